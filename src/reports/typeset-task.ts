import type { PrintedReport } from '../domain/values/printed-report.ts'

/** @property madeAt seconds since 1970. */
export type Order = { report: PrintedReport; madeAt: number }
export type Outcome = { pdf: Uint8Array } | { problem: string }
