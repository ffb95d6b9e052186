/** How many days after the end what a candidate has sent in is kept. */
export type KeptDays = { idPhoto: number; proctoring: number; answers: number }

export const DEFAULT_KEPT_DAYS: KeptDays = { idPhoto: 30, proctoring: 90, answers: 365 }
