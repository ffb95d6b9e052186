import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { desktop, isBrowserInstalled, overflow, startBrowser, watch } from '../support/browser.ts'
import { watchHand } from '../support/hand.ts'
import { png } from '../support/pictures.ts'
import { joinAs, PASSWORD } from '../support/portal.ts'
import { startServiceForTest } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'

/** Folder for numbered screenshots. None are taken if it is unset. */
const FOLDER = process.env.FIFTEEN_MINUTES
const CITIES = ['Oslo', 'Paris', 'Rome', 'Lima', 'Cairo', 'Tokyo', 'Madrid', 'Vienna', 'Dublin', 'Athens']
const COUNTRIES = ['Norway', 'France', 'Italy', 'Peru', 'Egypt', 'Japan', 'Spain', 'Austria', 'Ireland', 'Greece']
const PEOPLE = Array.from({ length: 20 }, (_, i) => `person${i + 1}@example.com,Person ${i + 1}`)

it.skipIf(!isBrowserInstalled)(
  'lets a new user create a scored test with two pictures and invite 20 people within 15 minutes (skipped where no chromium is installed)',
  async () => {
    if (FOLDER) await mkdir(FOLDER, { recursive: true })
    const service = await startServiceForTest()
    const origin = await service.app.listen({ port: 0, host: '127.0.0.1' })
    const organization = await service.make.organization()
    const { email } = await joinAs(service, organization)
    const browser = await startBrowser()
    onTestFinished(() => browser.close())
    const page = await browser.newPage({ viewport: desktop, baseURL: origin, colorScheme: 'light' })
    const complaints = watch(page)
    let pictures = 0
    const step = async (name: string) => {
      expect([page.url(), await overflow(page), complaints]).toEqual([page.url(), 0, []])
      const file = `${String(++pictures).padStart(2, '0')}-${name}.png`
      if (FOLDER) await page.screenshot({ path: path.join(FOLDER, file), fullPage: true })
    }
    const { press, check, type, paste, think, done, minutes } = watchHand(page)
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    const link = (name: string) => page.getByRole('main').getByRole('link', { name, exact: true }).first()

    await page.goto('/portal')
    await type('Email address', email)
    await type('Password', PASSWORD)
    await press(button('Sign in'))
    await step('first-steps')
    await press(link('Create an assessment'))
    think()
    await type('Name', 'Capitals')
    await step('new-assessment')
    await press(button('Create assessment'))
    await step('assessment')
    await press(link('Add a question'))
    await step('kinds')
    await press(link('Single choice'))
    for (const [i, country] of COUNTRIES.entries()) {
      think()
      await type('Question', `What is the capital of ${country}?`)
      for (const n of [0, 1, 2]) await type(`Option ${n + 1}`, CITIES[(i + n) % CITIES.length]!)
      await check(page.getByLabel('Option 1 is right'))
      if (i < 2) await addPicture(country)
      if (i === 0) await step('question')
      await press(button(i < COUNTRIES.length - 1 ? 'Save and add another' : 'Add question'))
      await page
        .getByText(i < COUNTRIES.length - 1 ? `Question ${i + 1} is added.` : 'The question is added.')
        .first()
        .waitFor()
      if (i === 0) await step('next-question')
    }
    await step('ten-questions')
    await press(link('change'))
    await check(page.getByLabel(/Release results in your name/))
    await step('settings')
    await press(button('Save'))
    await page.getByText('automatically, if everything is auto-scored').waitFor()
    await step('before-inviting')
    await press(link('Invite a candidate'))
    await step('one-invite')
    await press(link('Import candidates'))
    await paste('Or paste the rows', PEOPLE.join('\n'))
    await step('list')
    await press(button('Preview list'))
    await step('checked')
    await press(button('Invite 20 candidates'))
    const needed = minutes()
    const summary = `${JSON.stringify(done)}: ${needed.toFixed(1)} minutes`
    await page.getByRole('heading', { name: 'Outcome' }).waitFor()
    await step('invited')
    const { id: organizationId } = organization
    await waitUntil(
      'the mails',
      async () => (await service.db.inviteEmail.count({ where: { organizationId } })) === 20 || undefined,
    )
    const [assessment] = await service.db.assessment.findMany({ where: { organizationId } })
    expect(assessment).toMatchObject({ name: 'Capitals', questionCount: 10, totalPoints: 10 })
    expect(await service.db.asset.count({ where: { organizationId } })).toBe(2)
    expect(needed, summary).toBeLessThan(15)
    if (FOLDER) process.stdout.write(`${summary}\n`)

    async function addPicture(country: string) {
      await press(page.getByText('Add a picture'))
      done.press += 3 // in the file dialog of the operating system
      await page
        .getByLabel('Picture', { exact: true })
        .setInputFiles({ name: 'map.png', mimeType: 'image/png', buffer: png(40, 30, { seed: country }) })
      await type('Image description', `A map of ${country}`)
      await press(button('Add picture'))
      await waitUntil(
        'the picture',
        async () => (await page.getByLabel('Question', { exact: true }).inputValue()).includes('asset:') || undefined,
      )
      if (country === COUNTRIES[0]) await step('picture')
    }
  },
)
