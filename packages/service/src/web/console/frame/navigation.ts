/** The pages of an app, in the order of the navigation at the side. `page` is what follows `/console/:part/`. */
export const APP_PAGES = [
  { page: '', text: 'Home' },
  { page: 'keys', text: 'Keys' },
  { page: 'agents', text: 'Coding agents' },
  { page: 'playground', text: 'Playground' },
  { page: 'calls', text: 'Calls' },
  { page: 'users', text: 'Users' },
  { page: 'sandbox', text: 'Sandbox' },
  { page: 'webhooks', text: 'Webhooks' },
  { page: 'models', text: 'Models and prices' },
  { page: 'team', text: 'Team' },
  { page: 'activity', text: 'Activity' },
  { page: 'settings', text: 'Settings' },
] as const;
