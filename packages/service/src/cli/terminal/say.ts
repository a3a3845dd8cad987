/** Messages for people go to standard error, so that a command's result on standard output can be piped. */
export const say = (text: string): void => console.error(text);
