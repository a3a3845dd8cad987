/** An event. Its members are JSON, with the comma before the first. */
export function eventFrame(type: string, members = ''): string {
  return `event: ${type}\ndata: {"type":"${type}"${members}}\n\n`;
}

/** A text as JSON writes it between quotes. */
export function escapedOf(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
