const SECOND_MS = 1_000

/** Counts the seconds before something begins. @param changed is called when another number of them is left. */
export function makeCountIn(changed: () => void) {
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
    /** Seconds; 0: nothing is counted. */
    left: () => secondsLeft,
    /** @returns true when it begins, in time or because it was skipped; false when it was called off. */
    begin: (seconds: number): Promise<boolean> =>
      new Promise((resolve) => {
        settle = resolve
        count(seconds)
      }),
    skip: () => end(true),
    cancel: () => end(false),
  }
}
