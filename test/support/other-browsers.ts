import { isBrowserInstalled, startBrowser } from './browser.ts'
import { isFirefoxInstalled, startFirefox } from './firefox.ts'
import { waitUntil } from './wait-until.ts'
import { isWebKitInstalled, startWebKit } from './webkit.ts'

/** A browser with one page, driven by what every browser offers. */
export type Driven = {
  open: (url: string) => Promise<void>
  /** The value of an expression in the page, or what the promise that it is becomes. */
  evaluate: (expression: string) => Promise<unknown>
  click: (selector: string) => Promise<void>
  setCookie: (cookie: { name: string; value: string; domain: string }) => Promise<void>
  close: () => Promise<void>
}

/**
 * @property records what it can record of devices that are made up.
 * @property isHeard whether it measures how loud a microphone is, also on a machine without an audio output.
 */
type Other = { isInstalled: boolean; start: () => Promise<Driven>; records: readonly ('audio' | 'video')[]; isHeard: boolean }

/** Browsers other than Chromium. WebKitGTK, with its made-up camera, gives a recording of pictures no content. */
export const OTHER_BROWSERS: Record<'firefox' | 'webkit', Other> = {
  firefox: { isInstalled: isFirefoxInstalled, start: startFirefox, records: ['audio', 'video'], isHeard: false },
  webkit: { isInstalled: isWebKitInstalled, start: startWebKit, records: ['audio'], isHeard: true },
}

/** Reference for the others, driven in the same way. */
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

/** Presses the button that begins with these words, as soon as it can be pressed. */
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

/** Waits until the page says what the pattern says. */
export const see = (browser: Driven, pattern: RegExp): Promise<unknown> =>
  waitUntil(`the page to say ${pattern}`, async () =>
    (await browser.evaluate(`${pattern}.test(document.body.innerText)`)) === true ? true : undefined,
  ).catch(async (error) => {
    throw new Error(`The page says: ${await browser.evaluate('document.body.innerText')}`, { cause: error })
  })
