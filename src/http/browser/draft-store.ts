/** Stores unsaved input in localStorage, where it survives closing the page. */
export function createDraftStore<Draft>(key: string) {
  let isKept = true
  let storedText: string | null = null
  const attempt = <Result>(act: () => Result): Result | null => {
    try {
      return act()
    } catch {
      isKept = false // some private windows refuse storage
      return null
    }
  }
  return {
    /** False once the browser has refused to store. */
    isKept: () => isKept,
    read: (): Draft | null =>
      attempt(() => {
        storedText = localStorage.getItem(key)
        return JSON.parse(storedText ?? 'null') as Draft | null
      }),
    /** Skips a draft that was written before, so that a newer one of another tab stays. */
    write(draft: Draft): void {
      const text = JSON.stringify(draft)
      if (text === storedText) return
      attempt(() => localStorage.setItem(key, text))
      storedText = isKept ? text : null
    },
    /** Removes the draft that was read or written last. A newer one of another tab stays. */
    clear(): void {
      attempt(() => localStorage.getItem(key) === storedText && localStorage.removeItem(key))
      storedText = null
    },
  }
}
