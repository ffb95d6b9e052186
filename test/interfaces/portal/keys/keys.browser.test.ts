import { describe, expect, it, onTestFinished } from 'vitest'
import { makeAnswered } from '../../../support/answered.ts'
import { expectAccessible, isBrowserInstalled, looksOf, overflow, press } from '../../../support/browser.ts'
import { startBrowserForFile } from '../../../support/browser-for-file.ts'
import { signInAs } from '../../../support/portal.ts'
import { PATIENT } from '../../../support/wait-until.ts'

const { service, browser, origin } = await startBrowserForFile()

const ONE = {
  responseType: 'single_choice',
  spec: {
    options: [
      { id: 'qkzvwtab', text: 'Oslo' },
      { id: 'mfpdxhce', text: 'Bergen' },
    ],
    shuffle: false,
  },
  key: { policy: 'exact', right: ['qkzvwtab'] },
}
const WORDS = {
  responseType: 'short_text',
  spec: { lines: 1 },
  key: {
    accepted: [{ text: 'Rome', share: 100 }],
    caseSensitive: false,
    ignore: { accents: false, punctuation: false },
    otherwise: 'wrong',
  },
}

describe.skipIf(!isBrowserInstalled)('an answer key (skipped where no chromium is installed)', () => {
  it.each([
    ['another right option', ONE, [['qkzvwtab'], ['mfpdxhce']]],
    ['an answer that is accepted', WORDS, ['Roma', 'Rome']],
  ])('is corrected by %s, on pages that are accessible, wide and narrow, light and dark', async (_, definition, values) => {
    const answers = values.map((value, i) => ({ value, released: true, ...(i === 0 && { given: 3 }) }))
    const made = await makeAnswered(service, definition, answers)
    const admin = await signInAs(service, made.organizationId, ['admin'])
    const [name, value] = admin.cookie()!.split('=') as [string, string]
    for (const look of [0, 1].flatMap(looksOf)) {
      const context = await browser.newContext(look)
      onTestFinished(() => context.close())
      await context.addCookies([{ name, value, url: origin }])
      const page = await context.newPage()
      const expectUsable = async () => {
        await expectAccessible(page)
        expect(await overflow(page)).toBe(0)
      }
      await page.goto(`${origin}${admin.home}keys/${made.versionId}`)
      await expectUsable()
      await page.getByLabel('Full points for everybody').check()
      await page.getByLabel('Reason').fill('Two are right')
      await press(page, 'Preview changes')
      await page.getByRole('heading', { name: 'Changes', exact: true }).waitFor()
      await expectUsable()
      await context.close()
    }
    const context = await browser.newContext()
    onTestFinished(() => context.close())
    await context.addCookies([{ name, value, url: origin }])
    const page = await context.newPage()
    await page.goto(`${origin}${admin.home}keys/${made.versionId}`)
    if (definition === WORDS) await press(page, 'Accept Roma')
    else {
      await page.getByLabel('Bergen').check()
      await page.getByLabel('Reason').fill('It is Bergen')
      await press(page, 'Preview changes')
    }
    await press(page, 'Correct the key')
    await page.getByText('Key 2 is applied').waitFor(PATIENT)
    await page.getByText('Decided before the key was changed: 1').waitFor()
    await expectAccessible(page)
  })
})
