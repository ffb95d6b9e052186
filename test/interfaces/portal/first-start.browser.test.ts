import { expect, it, onTestFinished } from 'vitest'
import manifest from '../../../package.json' with { type: 'json' }
import { desktop, goTo, heading, isBrowserInstalled, overflow, phone, press, startBrowser, watch } from '../../support/browser.ts'
import { makeDataDir } from '../../support/data-dir.ts'
import { PASSWORD } from '../../support/portal.ts'
import { ask, startProcess } from '../../support/processes.ts'
import { LONG } from '../../support/scale.ts'
import { waitUntil } from '../../support/wait-until.ts'

/** Runs `npm start` on an empty folder and opens the printed link. */
async function startOnNothing() {
  const service = await startProcess({ DATA_DIR: await makeDataDir(), SECRET_KEY: '' }, ['-c', manifest.scripts.start], '/bin/sh')
  const link = await waitUntil('the link to the portal', () => /http:\S+\/portal\/join\/\S+/.exec(service.output())?.[0])
  return { service, link }
}

/** Opens a browser window, with a function that expects no sideways scrolling and no errors. */
async function openWindow(viewport: { width: number; height: number }) {
  const browser = await startBrowser()
  onTestFinished(() => browser.close())
  const page = await browser.newPage({ viewport, colorScheme: 'light' })
  const complaints = watch(page)
  const expectGood = async () => expect([page.url(), await overflow(page), complaints]).toEqual([page.url(), 0, []])
  return { page, expectGood }
}

it.skipIf(!isBrowserInstalled).each([['a phone', phone], ...(LONG ? ([['a desktop', desktop]] as const) : [])] as const)(
  'leads from an empty folder to a key, an invite, and its page in the portal, on %s (skipped where no chromium is installed)',
  async (_device, viewport) => {
    const { service, link } = await startOnNothing()
    const { page, expectGood } = await openWindow(viewport)
    await page.goto(link)
    await page.getByLabel('First name').fill('Ada')
    await page.getByLabel('Last name').fill('Lovelace')
    await page.getByLabel('Password').fill(PASSWORD)
    await expectGood()
    await press(page, 'Join')
    await page.getByRole('heading', { name: 'Last 30 days' }).waitFor()
    await expectGood()

    await goTo(page, 'Integrations')
    await press(page, 'New API key')
    await page.getByLabel('Name', { exact: true }).fill('My own system')
    await press(page, 'Generate API Key')
    const key = (await page.locator('#key').textContent())!
    await expectGood()

    const { assessments } = (await (await ask(service, key, '/assessments')).json()) as { assessments: { id: string }[] }
    const body = { assessmentId: assessments[0]!.id, recipientEmail: 'grace@example.com', recipientName: 'Grace Hopper' }
    expect((await ask(service, key, '/invites', body)).status).toBe(201)

    await goTo(page, 'Invites')
    const row = page.getByRole('row', { name: 'grace@example.com' })
    expect(await row.locator('.badge').textContent()).toBe('pending')
    await expectGood()
    await row.getByRole('link').click()
    expect(await heading(page)).toBe('Grace Hopper')
    await page.getByText('an API key of Ada Lovelace').waitFor()
    await expectGood()
    await goTo(page, 'Assessments')
    await page.getByRole('heading', { name: 'Assessments', level: 1 }).waitFor()
    await expectGood()
  },
)
