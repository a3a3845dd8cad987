/**
 * Waits until every live process has the last change of keys and apps in memory, for a second at most. Returns the processes
 * that have not by then, by their numbers (AU-09). The process that calls it has refreshed itself. A fault of the database
 * is no fault of the act, which is done: it counts as a process of unknown number.
 */
export type WhenEverywhere = () => Promise<readonly string[]>;
