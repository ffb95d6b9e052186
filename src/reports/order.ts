import type { PrintedReport } from '../domain/ports/printed-report.ts'

/** What the process is given to do. @property madeAt seconds since 1970. */
export type Order = { report: PrintedReport; madeAt: number }
/** How it ends. */
export type Outcome = { pdf: Uint8Array } | { problem: string }
