import { RESTART_BELOW_SECONDS, SLICE_SECONDS } from '../limits.ts'

/** Whether so little of an interrupted recording is saved that it may be started over. */
export const mayRestart = (slices: number): boolean => slices * SLICE_SECONDS < RESTART_BELOW_SECONDS
