/** A time limit with the extra time of an invite. @param seconds 0: no limit. @returns seconds. */
export const withExtraTime = (seconds: number, percent: number): number => (seconds * (100 + percent)) / 100
