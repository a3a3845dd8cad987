import pg from 'pg';

/** What code decides by, of a fault of a statement. The message is for the log. */
interface FaultFacts {
  readonly message: string;
  /** An SQLSTATE if the server sent it, else a code of the system. */
  readonly code?: string | undefined;
  readonly routine?: string | undefined;
  readonly isOfServer: boolean;
}

/** Writes a fault of a statement so that another process can read it and decide as this one would (`faultFrom`). */
export function faultTextOf(fault: unknown): string {
  const isOfServer = fault instanceof pg.DatabaseError;
  const code = fault instanceof Error && 'code' in fault && typeof fault.code === 'string' ? fault.code : undefined;
  const facts: FaultFacts = {
    message: fault instanceof Error ? fault.message : String(fault),
    code,
    routine: isOfServer ? fault.routine : undefined,
    isOfServer,
  };
  return JSON.stringify(facts);
}

export function faultFrom(text: string): Error {
  const { message, code, routine, isOfServer } = JSON.parse(text) as FaultFacts;
  if (!isOfServer) return Object.assign(new Error(message), code === undefined ? {} : { code });
  return Object.assign(new pg.DatabaseError(message, message.length, 'error'), { code, routine });
}
