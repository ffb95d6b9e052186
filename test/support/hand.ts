import type { Locator, Page } from 'playwright-core'

/** Milliseconds that a person needs to find and press something, type a letter, read a page, or think of something. */
const COSTS = { press: 3_000, letter: 300, page: 8_000, thought: 15_000 }

/** Acts on a page like a person, and counts presses, letters, pages, and thoughts. */
export function watchHand(page: Page) {
  const done = { press: 0, letter: 0, page: 0, thought: 0 }
  let address = ''
  page.on('framenavigated', (frame) => {
    // Pages that reload themselves while something is in progress are read once.
    if (frame !== page.mainFrame() || frame.url() === address) return
    address = frame.url()
    done.page++
  })
  return {
    press: async (what: Locator) => {
      done.press++
      await what.click()
    },
    check: async (what: Locator) => {
      done.press++
      await what.check()
    },
    type: async (label: string, text: string) => {
      done.press++
      done.letter += text.length
      await page.getByLabel(label, { exact: true }).fill(text)
    },
    /** Pastes a text that is copied from another program. */
    paste: async (label: string, text: string) => {
      done.press += 4
      await page.getByLabel(label, { exact: true }).fill(text)
    },
    think: () => done.thought++,
    done,
    minutes: () =>
      Object.entries(done).reduce((sum, [what, times]) => sum + times * COSTS[what as keyof typeof COSTS], 0) / 60_000,
  }
}
