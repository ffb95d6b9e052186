import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { desktop, expectAccessible, isBrowserInstalled, overflow, phone, watch } from '../../support/browser.ts'
import { startBrowserForFile } from '../../support/browser-for-file.ts'
import { signInAs } from '../../support/portal.ts'
import { makeSharedResult } from '../../support/shared-results.ts'
import { PATIENT } from '../../support/wait-until.ts'

const { service, browser, origin } = await startBrowserForFile()

async function lookAt(page: Page): Promise<void> {
  for (const viewport of [desktop, phone])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize(viewport)
      await page.emulateMedia({ colorScheme })
      await expectAccessible(page)
      expect(await overflow(page), page.url()).toBe(0)
    }
  await page.setViewportSize(desktop)
  await page.emulateMedia({ colorScheme: 'light' })
}

describe.skipIf(!isBrowserInstalled)('comparing and sharing results (skipped where no chromium is installed)', () => {
  it(
    'goes from the list of results to the comparison and the page of the receiver, accessible on any screen',
    PATIENT,
    async () => {
      const { id } = await service.make.organization()
      const assessment = await service.make.assessment(id, {
        name: 'Customer support, spoken English',
        bands: ['50 Recommended'],
      })
      const question = await service.make.question(assessment, { script: 'Say hello.', points: 10 })
      expect(question.points).toBe(10)
      const { cookie, home, member, post } = await signInAs(service, id, ['admin'])
      const ids: string[] = []
      for (const recipientName of ['Amara Duarte', 'Ben Okafor', 'Chloé Adeyemi']) {
        const invite = await service.make.invite(assessment, { recipientName, status: 'completed' })
        const of = { assessmentId: assessment.id, inviteId: invite.id, memberId: member.id, text: 'A comment' }
        ids.push((await makeSharedResult(service, id, of)).id)
      }
      await post(`${home}settings/sharing`, { isOn: 'yes' })
      const context = await browser.newContext({ viewport: desktop })
      onTestFinished(() => context.close())
      const [name, value] = cookie()!.split('=') as [string, string]
      await context.addCookies([{ name, value, url: origin }])
      const page = await context.newPage()
      const complaints = watch(page)
      await page.goto(`${origin}${home}results`)
      await lookAt(page)
      for (const person of ['Amara Duarte', 'Ben Okafor', 'Chloé Adeyemi']) await page.getByLabel(`Select ${person}`).check()
      await page.getByRole('button', { name: 'Compare' }).click()
      await page.getByRole('link', { name: 'Answers' }).first().click()
      await lookAt(page)
      await page.setViewportSize(phone)
      await page.getByLabel('Left').selectOption({ label: 'Chloé Adeyemi' })
      await page.getByRole('button', { name: 'Show' }).click()
      expect(await page.getByRole('columnheader', { name: /Chloé/ }).isVisible()).toBe(true)
      expect(await page.getByRole('columnheader').filter({ visible: true }).count()).toBe(3)
      await page.setViewportSize(desktop)
      await page.goto(`${origin}${home}shares/new?id=${ids[0]}&id=${ids[1]}`)
      await page.getByRole('textbox', { name: 'Receiver' }).fill('Tom Okafor')
      for (const part of ['Names', 'Written answers', 'Recorded answers']) await page.getByLabel(part).check()
      await page.getByLabel(/view and a comment/).check()
      await lookAt(page)
      await page.getByRole('button', { name: 'Create link' }).click()
      await lookAt(page)
      for (const path of [
        `results/${ids[0]}`,
        'shares',
        `assessments/${assessment.id}/bands`,
        `assessments/${assessment.id}/client-view`,
      ]) {
        await page.goto(`${origin}${home}${path}`)
        await lookAt(page)
      }
      for (const path of ['settings/sharing', 'settings/decisions']) {
        await page.goto(`${origin}${home}${path}`)
        await lookAt(page)
      }
      const link = await service.db.shareLink.findFirstOrThrow({ where: { organizationId: id } })
      const receiver = await browser.newContext({ viewport: desktop, javaScriptEnabled: true })
      onTestFinished(() => receiver.close())
      const shared = await receiver.newPage()
      const sharedComplaints = watch(shared)
      await shared.goto(`${origin}${new URL(service.deps.links.shareUrl(link.id)).pathname}`)
      await lookAt(shared)
      await shared.getByLabel('Yes').first().check()
      await shared.getByLabel('Comment').first().fill('I would like to meet her.')
      await shared.getByRole('button', { name: 'Save' }).first().click()
      expect(await shared.getByRole('status').textContent()).toBe('Saved.')
      expect([complaints, sharedComplaints]).toEqual([[], []])
    },
  )
})
