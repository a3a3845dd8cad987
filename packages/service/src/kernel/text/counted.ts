/** Returns a count with the words for one or for many: `1 gateway has`, `3 gateways have`. */
export function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
