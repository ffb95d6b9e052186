import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { changeColors, changeLogo, readBrand } from '../../src/domain/brand/brand.ts'
import { hashPageTexts, readPageTexts, savePageTexts } from '../../src/domain/brand/page-texts.ts'
import {
  desktop,
  expectAccessible,
  isBrowserInstalled,
  looksOf,
  overflow,
  phone,
  press,
  startBrowser,
  watch,
} from '../support/browser.ts'
import { listCandidatePages } from '../support/pages/candidate-pages.ts'
import { blackPng } from '../support/pictures.ts'
import { asOperator, signInAs } from '../support/portal.ts'
import { startServiceForFile } from '../support/service.ts'
import { makeAccepted } from '../support/taking.ts'

const service = await startServiceForFile()
let origin: string
let browser: Browser
beforeAll(async () => {
  if (!isBrowserInstalled) return
  origin = await service.app.listen({ port: 0, host: '127.0.0.1' })
  browser = await startBrowser()
})
afterAll(() => browser?.close())

/** Colors with poor contrast: the primary color as text color, and the background behind the text colors of a page. */
const YELLOW = { primaryColor: '#ffd400', backgroundColor: '#ffe97a' }

const WORDS = {
  imprint: 'https://example.com/imprint',
  privacy: 'https://example.com/privacy',
  contact: 'mailto:jobs@example.com',
  consent: `We keep your answers for a year.\nSee ${'https://example.com/a-very-long-address'.repeat(4)}`,
}

/** Dark background on which the text colors of a light page are unreadable. */
const NAVY = '#102a43'

async function openPage(cookie?: string): Promise<{ page: Page; complaints: string[] }> {
  const context = await browser.newContext()
  onTestFinished(() => context.close())
  const [name, value] = cookie?.split('=') ?? []
  if (name && value) await context.addCookies([{ name, value, url: origin }])
  const page = await context.newPage()
  return { page, complaints: watch(page) }
}

/** Computed colors of the main button. */
const COLORS = `(() => {
  const { color, backgroundColor } = getComputedStyle(document.querySelector('.btn-primary'))
  return [color, backgroundColor]
})()`
const GROUND = `getComputedStyle(document.querySelector('.brand-head')).backgroundColor`
const LOGO_WIDTH = `document.querySelector('img').naturalWidth`

/** Gives every organization a brand, alternating between light and dark header backgrounds. */
async function giveBrands(): Promise<void> {
  for (const [i, { id, name }] of (await service.db.organization.findMany()).entries()) {
    const ctx = asOperator(service, { id, name })
    await changeColors(ctx, i % 2 ? YELLOW : { ...YELLOW, backgroundColor: NAVY }, (await readBrand(ctx)).updatedAt)
    await changeLogo(ctx, blackPng(480, 135))
    await savePageTexts(ctx, 'en', WORDS, hashPageTexts(await readPageTexts(ctx, 'en')))
  }
}

describe.skipIf(!isBrowserInstalled)('the brand (skipped where no chromium is installed)', () => {
  it('is accessible in yellow with a logo on every candidate page, wide and narrow, light and dark', async () => {
    const pages = await listCandidatePages(service)
    await giveBrands()
    await service.db.organization.updateMany({ data: { languagesOffered: ['en', 'de'] } })
    const { page, complaints } = await openPage()
    let branded = 0
    for (const [i, { name, address }] of pages.entries()) {
      for (const { viewport, colorScheme } of looksOf(i)) {
        await page.setViewportSize(viewport)
        await page.emulateMedia({ colorScheme })
        await page.goto(origin + address)
        for (const summary of await page.locator('summary:visible').all()) await summary.click()
        await page.mouse.move(0, 0) // an element under the pointer has another background
        await expectAccessible(page)
        expect([name, viewport.width, await overflow(page)]).toEqual([name, viewport.width, 0])
        if ((await page.locator('.brand-plate img').count()) === 0) continue
        branded++
        expect([name, await page.evaluate(LOGO_WIDTH)]).toEqual([name, 480])
        expect([name, await page.evaluate(GROUND)]).not.toEqual([name, 'rgb(255, 255, 255)'])
      }
    }
    expect(branded).toBeGreaterThan(20)
    // The browser itself logs an error for a page with status 404.
    expect(complaints.filter((text) => !/status of 404/.test(text))).toEqual([])
  })

  it('is edited on a page that draws an SVG as PNG, picks colors, and previews page and email, light and dark', async () => {
    const organization = await service.make.organization()
    const admin = await signInAs(service, organization.id, ['admin'])
    const { page, complaints } = await openPage(admin.cookie())
    await page.setViewportSize(phone)
    await page.goto(`${origin}${admin.home}settings/brand`)
    // An empty color field shows the service's own color, not black.
    for (const label of ['Pick: Buttons and links', 'Pick: Background of the header'])
      expect(await page.getByLabel(label).inputValue()).not.toBe('#000000')
    await page.getByLabel('Pick: Buttons and links').fill(YELLOW.primaryColor)
    await page.getByLabel('Pick: Background of the header').fill(YELLOW.backgroundColor)
    await press(page, 'Save')
    await page.getByText('Saved. Pages and emails use it from now on.').waitFor()
    const svg =
      '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 10"><script>alert(1)</script><rect width="40" height="10" fill="navy"/></svg>'
    await page.getByLabel('Picture').setInputFiles({ name: 'logo.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(svg) })
    await page.getByText(/It will be uploaded as a PNG/).waitFor()
    await press(page, 'Add the logo')
    await page.getByRole('button', { name: 'Remove the logo' }).waitFor()
    const stored = await service.db.organization.findUniqueOrThrow({ where: { id: organization.id } })
    expect(stored).toMatchObject({ ...YELLOW, logoWidth: 600, logoHeight: 150 })
    const asset = await service.db.asset.findFirstOrThrow({ where: { organizationId: organization.id } })
    expect([asset.contentType, asset.kind]).toEqual(['image/png', 'logo'])

    const frames = page.frames().slice(1)
    expect(frames).toHaveLength(4)
    for (const frame of frames) {
      await frame.waitForLoadState()
      expect([frame.url(), await frame.evaluate(LOGO_WIDTH)]).toEqual([frame.url(), 600])
    }
    const [light, dark] = await Promise.all(frames.slice(0, 2).map((frame) => frame.evaluate(COLORS)))
    expect(light).toEqual(['rgb(255, 255, 255)', expect.not.stringContaining('255, 212, 0')])
    expect(dark).toEqual(['rgb(0, 0, 0)', 'rgb(255, 212, 0)'])
    for (const viewport of [desktop, phone]) {
      await page.setViewportSize(viewport)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        await expectAccessible(page)
        expect(await overflow(page)).toBe(0)
      }
    }
    expect(complaints).toEqual([])
  })

  it('has a text preview that renews both frames, and shows typed changes at once', async () => {
    const organization = await service.make.organization()
    const admin = await signInAs(service, organization.id, ['admin'])
    const { page, complaints } = await openPage(admin.cookie())
    await page.goto(`${origin}${admin.home}settings/words`)
    await page.getByLabel('Subject').fill('Hello')
    for (const [words, button] of [
      ['Some words of our own.', 'Preview'],
      ['Others.', 'Preview on a phone'],
      ['And as text.', 'Preview as text'],
    ] as const) {
      await page.getByLabel('Text', { exact: true }).fill(`${words}\n\n{{ link }}`)
      await page.getByRole('button', { name: button, exact: true }).click()
      for (const frame of ['wide', 'narrow']) await page.frameLocator(`iframe[name=${frame}]`).getByText(words).waitFor()
    }
    expect(complaints).toEqual([])
  })

  it("shows an organization's consent text in Arabic on a phone, and stores the agreement", async () => {
    const { candidate, organization, invite } = await makeAccepted(service)
    await service.db.organization.update({ where: { id: organization.id }, data: { languagesOffered: ['en', 'ar'] } })
    const ctx = asOperator(service, organization)
    const save = async (language: string, words: typeof WORDS) =>
      savePageTexts(ctx, language, words, hashPageTexts(await readPageTexts(ctx, language)))
    await save('en', WORDS)
    await save('ar', { ...WORDS, imprint: '', consent: 'نحتفظ بإجاباتكم لمدة عام.' })
    const { page, complaints } = await openPage()
    await page.setViewportSize(phone)
    await page.setExtraHTTPHeaders({ 'accept-language': 'ar' })
    await page.goto(origin + candidate.path)
    await page.getByText('نحتفظ بإجاباتكم لمدة عام.').waitFor()
    expect(await page.locator('#links a').allTextContents()).toEqual(['البيانات القانونية', 'الخصوصية', 'اتصلوا بنا'])
    await expectAccessible(page)
    expect(await overflow(page)).toBe(0)
    await press(page, 'أوافق')
    await page.locator('#links').waitFor()
    const given = await service.db.submission.findFirstOrThrow({ where: { inviteId: invite.id } })
    expect([given.consentLanguage, given.organizationConsentLanguage, given.organizationConsentVersion]).toEqual(['ar', 'ar', 1])
    expect(complaints).toEqual([])
  })

  it('reports a picture that cannot be drawn', async () => {
    const organization = await service.make.organization()
    const admin = await signInAs(service, organization.id, ['admin'])
    const { page } = await openPage(admin.cookie())
    await page.goto(`${origin}${admin.home}settings/brand`)
    await page
      .getByLabel('Picture')
      .setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.from('<!doctype html>') })
    await page.getByText('The browser can’t open this picture.').waitFor()
    await press(page, 'Add the logo')
    await page.getByRole('heading', { name: 'Please check the following' }).waitFor()
    await page.getByLabel('Picture').setInputFiles({ name: 'wide.png', mimeType: 'image/png', buffer: blackPng(3_000, 900) })
    await page.getByText(/It will be uploaded as a PNG/).waitFor()
    await press(page, 'Add the logo')
    await page.getByRole('button', { name: 'Remove the logo' }).waitFor()
    const stored = await service.db.organization.findUniqueOrThrow({ where: { id: organization.id } })
    expect([stored.logoWidth, stored.logoHeight]).toEqual([1_200, 360])
  })
})
