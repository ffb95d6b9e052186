import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import MailComposer from 'nodemailer/lib/mail-composer'
import PostalMime from 'postal-mime'
import { expect, it, onTestFinished } from 'vitest'
import { shippedLanguages } from '../../src/locales/languages.ts'
import { inlineStyles } from '../../src/mail/inline-styles.ts'
import { runsAllBrowserTests, startBrowser } from '../support/browser.ts'
import { renderEveryMail, WRITTEN } from '../support/every-mail.ts'

const english = shippedLanguages.mail('en', 'UTC')
const mails = Object.entries(renderEveryMail(english))
/** Yellow, which has a low contrast both as text and as background. */
const BRAND = {
  primaryColor: '#ffd400',
  backgroundColor: '#102a43',
  logo: { url: 'https://assess.example.org/i/brand/logo', width: 240, height: 64, organization: WRITTEN.organization },
}
const branded = Object.entries(renderEveryMail(english, BRAND))
/** Folder for screenshots. Unset: no screenshots. */
const FOLDER = process.env.CONTACT_SHEET

it.each(mails)('gives each class in the mail %s its inline style, and loads nothing', (_name, { html }) => {
  for (const [element] of html.matchAll(/<[^>]* class="[^>]*>/g)) expect(element).toMatch(/ style="[^"]+"/)
  expect(html).not.toMatch(/<link|<img|<script|url\(/)
  expect(Buffer.byteLength(html)).toBeLessThan(30_000)
})

it.each(mails)('has the same words in the text and the HTML of the mail %s', (_name, { html, text }) => {
  const ofButton = english.text('frame.address')
  const body = html
    .slice(html.indexOf('<body'))
    .replace(ofButton, '')
    .replaceAll(/<a href="([^"]*)" class="link"/g, '$1 $&')
  const words = (said: string): string[] => said.replaceAll(/<[^>]*>/g, ' ').match(/[\p{L}\d]+/gu) ?? []
  expect([...new Set(words(body))].sort()).toEqual([...new Set(words(text))].sort())
})

it.each(mails)('can be read in both parts by another program: %s', async (_name, mail) => {
  const bytes = await new MailComposer({ from: 'a@example.org', to: 'b@example.org', ...mail }).compile().build()
  const read = await PostalMime.parse(bytes)
  expect([read.subject, read.text?.trim(), read.html?.trim()]).toEqual([mail.subject, mail.text.trim(), mail.html.trim()])
  expect(bytes.length).toBeLessThan(30_000)
})

it.each(branded)("has the organization's colors and logo in the branded mail %s, and stays small", (_name, { html }) => {
  expect(html.match(/<img[^>]*>/g)).toEqual([
    expect.stringContaining(`alt="${WRITTEN.organization}" width="240" height="64" class="logo" style="`),
  ])
  expect(html).toContain(
    'class="plate" style="padding:10px 14px;border-radius:8px;font-weight:600;background-color:#102a43;color:#ffffff"',
  )
  const colors = new Set(html.match(/#[\da-f]{6}/g))
  expect([colors.has('#2251c6'), colors.has('#81a9fd')]).toEqual([false, false])
  expect(Buffer.byteLength(html)).toBeLessThan(30_000)
})

it('keeps the line breaks of a message with elements instead of a style, and quotes it in the text', () => {
  const { html, text } = renderEveryMail(english).invitation!
  expect(html).toContain('We look forward to hearing you.<br>Maya')
  expect(html).not.toContain('white-space')
  expect(text).toContain('\n> We look forward to hearing you.\n> Maya\n')
})

it('gives the button cell padding, the only one that Outlook for Windows supports', () => {
  const { html } = renderEveryMail(english).invitation!
  expect(html).toMatch(
    /<td class="button" style="[^"]*mso-padding-alt:12px 24px[^"]*"><a href="[^"]+" class="label" style="[^"]*padding:12px 24px/,
  )
})

it('rejects an unknown class in a mail, and ignores text that looks like one', () => {
  expect(() => inlineStyles('<p class="hint">')).toThrow('hint')
  expect(inlineStyles('<p>class=&quot;hint&quot;</p>')).toBe('<p>class=&quot;hint&quot;</p>')
})

it.skipIf(!runsAllBrowserTests)('has a contrast of at least 4.5 for every text in light and dark', async () => {
  const browser = await startBrowser()
  // The logo can't be loaded, so its alternative text is shown.
  const brandedOnes = branded.slice(0, 4).map(([name, mail]) => [`branded-${name}`, mail] as const)
  onTestFinished(() => browser.close())
  for (const colorScheme of ['light', 'dark'] as const)
    for (const viewport of [WIDE, PHONE]) {
      const page = await browser.newPage({ colorScheme, viewport })
      for (const [name, { html }] of [...mails, ...brandedOnes]) {
        await page.setContent(html)
        expect([name, colorScheme, await page.evaluate(CONTRASTS)]).toEqual([name, colorScheme, []])
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(viewport.width)
        expect([name, viewport.width, await page.evaluate(BROKEN)]).toEqual([name, viewport.width, []])
        if (!FOLDER) continue
        await mkdir(FOLDER, { recursive: true })
        await page.screenshot({ path: path.join(FOLDER, `mail-${name}-${colorScheme}-${viewport.width}.png`), fullPage: true })
      }
      await page.close()
    }
  expect(WRITTEN.url.length).toBeGreaterThan(40) // long enough to need a line break
})

const WIDE = { width: 600, height: 900 }
const PHONE = { width: 375, height: 812 }

/** Finds words that are broken across lines, and text outside the card. Only addresses may break anywhere. */
const BROKEN = `(() => {
  const found = []
  const card = document.querySelector('.inside').getBoundingClientRect()
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const { data, parentElement } = walker.currentNode
    for (const { 0: word, index } of data.matchAll(/[\\p{L}\\d]+/gu)) {
      const range = document.createRange()
      range.setStart(walker.currentNode, index)
      range.setEnd(walker.currentNode, index + word.length)
      const boxes = [...range.getClientRects()]
      if (boxes.some(({ right }) => right > card.right)) found.push('outside: ' + word)
      if (boxes.length > 1 && !parentElement.closest('.address')) found.push('broken: ' + word)
    }
  }
  return found
})()`

/** Finds texts with too little contrast, and their contrast. */
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
