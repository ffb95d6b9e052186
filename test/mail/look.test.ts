import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { english } from '../../src/locales/languages.ts'
import { inlineStyles } from '../../src/mail/inline-styles.ts'
import { desktop, isBrowserInstalled, phone, startBrowser } from '../support/browser.ts'
import { renderEveryMail, WRITTEN } from '../support/every-mail.ts'

const mails = Object.entries(renderEveryMail(english))
/** Where pictures of them are wanted; usually none are taken. */
const FOLDER = process.env.CONTACT_SHEET

it.each(mails)('gives each class of the mail %s its style at the element, and loads nothing', (_name, { html }) => {
  for (const [element] of html.matchAll(/<[^>]* class="[^>]*>/g)) expect(element).toMatch(/ style="[^"]+"/)
  expect(html).not.toMatch(/<link|<img|<script|url\(/)
  expect(Buffer.byteLength(html)).toBeLessThan(30_000)
})

it.each(mails)('says in the text of the mail %s what its HTML says, but for the button', (_name, { html, text }) => {
  const ofButton = english.mail.text('frame.address')
  const body = html
    .slice(html.indexOf('<body'))
    .replaceAll(/<p class="action".*?<\/p>/gs, '')
    .replace(ofButton, '')
  const words = (said: string): string[] => said.replaceAll(/<[^>]*>/g, ' ').match(/[\p{L}\d]+/gu) ?? []
  expect(words(body).filter((word) => !words(text).includes(word))).toEqual([])
})

it('refuses a class that means nothing in a mail, and leaves alone what looks like one in what others have written', () => {
  expect(() => inlineStyles('<p class="hint">')).toThrow('hint')
  expect(inlineStyles('<p>class=&quot;hint&quot;</p>')).toBe('<p>class=&quot;hint&quot;</p>')
})

it.skipIf(!isBrowserInstalled)('can be read in light and dark: every text has a contrast of 4.5 at least', async () => {
  const browser = await startBrowser()
  onTestFinished(() => browser.close())
  for (const colorScheme of ['light', 'dark'] as const)
    for (const viewport of [desktop, phone]) {
      const page = await browser.newPage({ colorScheme, viewport })
      for (const [name, { html }] of mails) {
        await page.setContent(html)
        expect([name, colorScheme, await page.evaluate(CONTRASTS)]).toEqual([name, colorScheme, []])
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(viewport.width)
        if (!FOLDER) continue
        await mkdir(FOLDER, { recursive: true })
        await page.screenshot({ path: path.join(FOLDER, `mail-${name}-${colorScheme}-${viewport.width}.png`), fullPage: true })
      }
      await page.close()
    }
  expect(WRITTEN.url.length).toBeGreaterThan(40) // long enough to be broken
})

/** The texts that are hard to read, with their contrast. */
const CONTRASTS = `(() => {
  const luminance = (color) => {
    const [r, g, b] = color.match(/[\\d.]+/g).slice(0, 3).map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const ground = (element) => {
    const { backgroundColor } = getComputedStyle(element)
    return backgroundColor === 'rgba(0, 0, 0, 0)' ? ground(element.parentElement) : backgroundColor
  }
  return [...document.body.querySelectorAll('*')].filter((element) => element.children.length === 0 && element.textContent.trim())
    .map((element) => {
      const [one, other] = [luminance(getComputedStyle(element).color), luminance(ground(element))].sort((a, b) => b - a)
      return [element.textContent.slice(0, 20), (one + 0.05) / (other + 0.05)]
    }).filter(([, contrast]) => contrast < 4.5)
})()`
