/**
 * Log of erasures outside of the database, so that a restored backup does not bring erased people back: the setting ERASURE_LOG.
 * When `append` resolves, its line survives a crash. `read` yields complete lines from the last to the first; null if there is no
 * file, or it belongs to another installation.
 */
export type ErasureLog = { append: (line: string) => Promise<void>; read: () => Promise<AsyncGenerator<string> | null> }
