const SECOND_MS = 1_000

/** Counts down the seconds before something begins. @param changed called at each second. */
export function createCountIn(changed: () => void) {
  let secondsLeft = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let settle = (_isBegun: boolean): void => {}

  function count(seconds: number): void {
    secondsLeft = seconds
    changed()
    if (seconds === 0) settle(true)
    else timer = setTimeout(() => count(seconds - 1), SECOND_MS)
  }

  function end(isBegun: boolean): void {
    clearTimeout(timer)
    secondsLeft = 0
    settle(isBegun)
  }

  return {
    /** Seconds left; 0 while no countdown runs. */
    left: () => secondsLeft,
    /** @returns true at the end of the countdown, or when it is skipped; false when it is canceled. */
    begin: (seconds: number): Promise<boolean> =>
      new Promise((resolve) => {
        settle = resolve
        count(seconds)
      }),
    skip: () => end(true),
    cancel: () => end(false),
  }
}
