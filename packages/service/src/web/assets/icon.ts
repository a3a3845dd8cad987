/** Where browsers find the icon. Pages name the first; browsers try the second for answers that are no pages of ours. */
export const ICON_PATH = '/favicon.svg';
export const ICON_PATHS = [ICON_PATH, '/favicon.ico'];

export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#0d5c4b"/>
<path d="M11.5 25V8h6a5.25 5.25 0 0 1 0 10.5h-6" fill="none" stroke="#fff" stroke-width="3.2" stroke-linecap="round" stroke-linejoin="round"/></svg>
`;
