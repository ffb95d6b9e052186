/** How many days after the end what a candidate has sent in is kept. */
export type KeptDays = { idPhoto: number; proctoring: number; answers: number }
