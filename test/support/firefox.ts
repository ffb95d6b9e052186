import { existsSync } from 'node:fs'
import puppeteer from 'puppeteer-core'
import type { Driven } from './other-browsers.ts'

/** Debian's path. */
const FIREFOX = '/usr/bin/firefox-esr'
export const isFirefoxInstalled = existsSync(FIREFOX)

/** A fake camera and a fake microphone, without permission prompts. */
const PREFERENCES = { 'media.navigator.streams.fake': true, 'media.navigator.permission.disabled': true }

/** Starts Firefox, controlled over WebDriver BiDi. */
export async function startFirefox(): Promise<Driven> {
  const browser = await puppeteer.launch({
    browser: 'firefox',
    executablePath: FIREFOX,
    headless: true,
    extraPrefsFirefox: PREFERENCES,
    protocolTimeout: 120_000,
  })
  const page = await browser.newPage()
  return {
    open: async (url) => void (await page.goto(url)),
    evaluate: (expression) => page.evaluate(expression),
    click: (selector) => page.click(selector),
    setCookie: ({ name, value, domain }) => browser.setCookie({ name, value, domain, path: '/', httpOnly: true }),
    close: () => browser.close(),
  }
}
