import type { PrintedReport } from '../domain/ports/printed-report.ts'

/** @property madeAt seconds since 1970. */
export type TypesetTask = { report: PrintedReport; madeAt: number }
export type TypesetOutcome = { pdf: Uint8Array } | { problem: string }
