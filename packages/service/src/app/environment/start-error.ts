/** A cause outside the service that keeps it from starting. The message says what it is and what to do about it. */
export class StartError extends Error {}

/** No later start succeeds either, before somebody has changed a setting, the secret or the catalogue. So nobody should try again by itself. */
export class SetupError extends StartError {}

/** The exit status of a `SetupError`: `EX_CONFIG` of sysexits.h. The units for systemd do not start the service again after it. */
export const SETUP_STATUS = 78;
