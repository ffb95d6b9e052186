/** What is typed, in this browser, until it is saved; also when the page is closed. */
export function openDrafts<Draft>(key: string) {
  let isKept = true
  let known: string | null = null
  const attempt = <Result>(act: () => Result): Result | null => {
    try {
      return act()
    } catch {
      isKept = false // refused, as in some private windows
      return null
    }
  }
  return {
    /** Whether the browser keeps them: false once it has refused. */
    isKept: () => isKept,
    read: (): Draft | null =>
      attempt(() => {
        known = localStorage.getItem(key)
        return JSON.parse(known ?? 'null') as Draft | null
      }),
    /** Once: what another tab has written since stays, where this is nothing new. */
    write(draft: Draft): void {
      const text = JSON.stringify(draft)
      if (text === known) return
      attempt(() => localStorage.setItem(key, text))
      known = isKept ? text : null
    },
    /** Forgets the one that was read or written last. What another tab has written since stays. */
    clear(): void {
      attempt(() => localStorage.getItem(key) === known && localStorage.removeItem(key))
      known = null
    },
  }
}
