import { describe, expect, it, onTestFinished } from 'vitest'
import { expectAccessible, heading, isBrowserInstalled, looksOf, overflow, press, watch } from '../../../support/browser.ts'
import { startBrowserForFile } from '../../../support/browser-for-file.ts'
import { signInAs } from '../../../support/portal.ts'
import { PATIENT } from '../../../support/wait-until.ts'

const { service, browser, origin } = await startBrowserForFile()

/** Opens the page of a tag. */
async function openTag(javaScriptEnabled: boolean) {
  const organization = await service.make.organization()
  const tag = await service.make.tag(organization.id, { name: 'Spring <b>' })
  const admin = await signInAs(service, organization.id, ['admin'])
  const [name, value] = admin.cookie()!.split('=') as [string, string]
  const context = await browser.newContext({ javaScriptEnabled })
  onTestFinished(() => context.close())
  await context.addCookies([{ name, value, url: origin }])
  const page = await context.newPage()
  const complaints = watch(page)
  await page.goto(`${origin}${admin.home}tags/${tag.id}`)
  const isThere = async () => (await service.db.tag.count({ where: { id: tag.id } })) === 1
  return { page, isThere, complaints, address: page.url() }
}

describe.skipIf(!isBrowserInstalled)('an irreversible action (skipped where no chromium is installed)', () => {
  it('is confirmed in a dialog that focuses the cancel button, and returns the focus afterwards', async () => {
    const { page, isThere, complaints } = await openTag(true)
    const focused = () => page.evaluate('document.activeElement.textContent')
    const dialog = page.getByRole('dialog', { name: 'Delete Spring <b>?' })
    await page.getByRole('button', { name: 'Delete' }).focus()
    await page.keyboard.press('Enter')
    await dialog.waitFor()
    expect(await focused()).toBe('Cancel')
    for (const { viewport, colorScheme } of [...looksOf(0), ...looksOf(1)]) {
      await page.setViewportSize(viewport)
      await page.emulateMedia({ colorScheme })
      await expectAccessible(page)
      expect(await overflow(page)).toBe(0)
    }
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(await focused()).toBe('Delete')
    await page.keyboard.press('Enter')
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await isThere()).toBe(true)
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('Delete')
    await page.keyboard.press('Enter')
    await page.getByText('The tag is deleted.').waitFor()
    expect([await isThere(), complaints]).toEqual([false, []])
  })

  it('is confirmed on a page without scripts', async () => {
    const { page, isThere, address } = await openTag(false)
    await press(page, 'Delete')
    await expect.poll(() => heading(page), PATIENT).toBe('Delete Spring <b>?')
    await page.getByText('It is removed from everything that has it.').waitFor()
    await page.getByRole('link', { name: 'Cancel' }).click()
    await page.waitForURL(address)
    expect(await isThere()).toBe(true)
    await press(page, 'Delete')
    await expect.poll(() => heading(page), PATIENT).toBe('Delete Spring <b>?')
    await press(page, 'Delete')
    await page.getByText('The tag is deleted.').waitFor()
    expect(await isThere()).toBe(false)
  })
})

it('accepts only actions within the organization', async () => {
  const organization = await service.make.organization()
  const admin = await signInAs(service, organization.id, ['admin'])
  for (const to of ['', 'https://evil.example/', '//evil.example', `/portal/${service.deps.newId()}/tags`]) {
    const answer = await admin.post(`${admin.home}confirm`, { ask_to: to, ask_label: 'Delete', ask_question: 'Really?' })
    expect([to, answer.status, answer.headers.location]).toEqual([to, 303, admin.home])
  }
  const answer = await admin.post(`${admin.home}confirm`, { ask_to: `${admin.home}tags`, ask_question: '<i>?', once: '"x' })
  expect([answer.status, answer.text.includes('&lt;i&gt;?'), answer.text.includes('name="once" value="&quot;x"')]).toEqual([
    200,
    true,
    true,
  ])
})
