import { isBrowserInstalled, startBrowser } from './browser.ts'
import { isFirefoxInstalled, startFirefox } from './firefox.ts'
import { waitUntil } from './wait-until.ts'
import { isWebKitInstalled, startWebKit } from './webkit.ts'

/** A browser with one page, controlled by functions that all browsers support. */
export type Driven = {
  open: (url: string) => Promise<void>
  /** Evaluates an expression in the page, and awaits it if it is a promise. */
  evaluate: (expression: string) => Promise<unknown>
  click: (selector: string) => Promise<void>
  setCookie: (cookie: { name: string; value: string; domain: string }) => Promise<void>
  close: () => Promise<void>
}

/**
 * @property records kinds of fake devices that it can record.
 * @property isHeard true if it measures the volume of a microphone even on a machine without audio output.
 */
type Other = { isInstalled: boolean; start: () => Promise<Driven>; records: readonly ('audio' | 'video')[]; isHeard: boolean }

/** Browsers other than Chromium. A video recording of WebKitGTK's fake camera is empty. */
export const OTHER_BROWSERS: Record<'firefox' | 'webkit', Other> = {
  firefox: { isInstalled: isFirefoxInstalled, start: startFirefox, records: ['audio', 'video'], isHeard: false },
  webkit: { isInstalled: isWebKitInstalled, start: startWebKit, records: ['audio'], isHeard: true },
}

/** Reference for the other browsers, controlled in the same way. */
export const CHROMIUM: Other = {
  isInstalled: isBrowserInstalled,
  start: startChromium,
  records: ['audio', 'video'],
  isHeard: true,
}

async function startChromium(): Promise<Driven> {
  const browser = await startBrowser('--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream')
  const context = await browser.newContext()
  const page = await context.newPage()
  return {
    open: async (url) => void (await page.goto(url)),
    evaluate: (expression) => page.evaluate(expression),
    click: (selector) => page.click(selector),
    setCookie: (cookie) => context.addCookies([{ ...cookie, path: '/', httpOnly: true, sameSite: 'Lax' }]),
    close: () => browser.close(),
  }
}

/** Presses the button whose text starts with these words, as soon as it is visible and enabled. */
export async function pressIn(browser: Driven, words: string): Promise<void> {
  await waitUntil(
    `a button “${words}”`,
    async () =>
      (await browser.evaluate(`(() => {
      const isIt = (button) => button.textContent.trim().startsWith(${JSON.stringify(words)}) && button.checkVisibility() && !button.disabled
      for (const one of document.querySelectorAll('[data-pressed]')) one.removeAttribute('data-pressed')
      const found = [...document.querySelectorAll('button')].find(isIt)
      found?.setAttribute('data-pressed', '')
      return found !== undefined
    })()`)) || undefined,
  )
  await browser.click('[data-pressed]')
}

/** Waits until the page's text matches the pattern. */
export const see = (browser: Driven, pattern: RegExp): Promise<unknown> =>
  waitUntil(`the page to say ${pattern}`, async () =>
    (await browser.evaluate(`${pattern}.test(document.body.innerText)`)) === true ? true : undefined,
  ).catch(async (error) => {
    throw new Error(`The page says: ${await browser.evaluate('document.body.innerText')}`, { cause: error })
  })
