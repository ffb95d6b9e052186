import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { it, onTestFinished } from 'vitest'
import { loadDemo } from '../../src/demo/load.ts'
import { desktop, isBrowserInstalled, phone, startBrowser } from '../support/browser.ts'
import { PASSWORD, visit } from '../support/portal.ts'
import { type Service, startServiceForTest } from '../support/service.ts'

/** Where `npm run contact-sheet` wants the pictures; usually none are taken. */
const FOLDER = process.env.CONTACT_SHEET
/** A part of the addresses of the pages to take; without it all. */
const ONLY = process.env.PAGES ?? ''

const LOOKS = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [desktop, phone].map((viewport) => ({ colorScheme, viewport, name: `${colorScheme}-${viewport.width}` })),
)

/** The pages of an organization, by what the pictures are called; of what has ids, one that says much. */
async function addressesOf({ db }: Service, organizationId: string, home: string): Promise<[name: string, address: string][]> {
  const where = { organizationId }
  const find = { where, select: { id: true } } as const
  const [assessment, tag, member] = await Promise.all([
    db.assessment.findFirstOrThrow({ ...find, where: { ...where, invites: { some: {} } } }),
    db.tag.findFirstOrThrow(find),
    db.member.findFirstOrThrow(find),
  ])
  const question = await db.question.findFirstOrThrow({ where: { ...where, assessmentId: assessment.id } })
  const submitted = await db.submission.findFirst({ where: { ...where, state: 'submitted' } })
  const released = await db.submission.findFirst({ where: { ...where, state: 'released' } })
  const pending = await db.invite.findFirstOrThrow({ where: { ...where, status: 'pending' } })
  const completed = submitted?.inviteId ?? released?.inviteId
  const pages: [string, string | false | null | undefined][] = [
    ['home', ''],
    ['invites', 'invites'],
    ['invite-pending', `invites/${pending.id}`],
    ['invite-completed', completed && `invites/${completed}`],
    ['new-invite', 'invites/new'],
    ['invite-many', 'invites/batches'],
    ['assessments', 'assessments'],
    ['new-assessment', 'assessments/new'],
    ['assessment', `assessments/${assessment.id}`],
    ['assessment-edit', `assessments/${assessment.id}/edit`],
    ['assessment-preview', `assessments/${assessment.id}/preview`],
    ['question', `assessments/${assessment.id}/questions/${question.id}`],
    ['grading', 'grading?whose=all'],
    ['sheet', submitted && `grading/${submitted.id}`],
    ['release', submitted && `grading/${submitted.id}/release`],
    ['submission', submitted && `invites/${submitted.inviteId}/submission`],
    ['results', 'results'],
    ['result', released && `results/${released.id}`],
    ['report', `results/assessments/${assessment.id}`],
    ['members', 'members'],
    ['member', `members/${member.id}`],
    ['tags', 'tags'],
    ['tag', `tags/${tag.id}`],
    ['integrations', 'settings/integrations'],
    ['webhooks', 'settings/webhooks'],
    ['ats', 'settings/ats'],
    ['settings', 'settings/organization'],
    ['audit-log', 'settings/audit-log'],
    ['account', 'account'],
  ]
  return pages.flatMap(([name, at]): [string, string][] => (typeof at !== 'string' ? [] : [[name, `${home}/${at}`]]))
}

/** All pictures side by side, a row a page. */
const sheetOf = (names: string[]): string =>
  `<!doctype html><meta charset="utf-8"><title>Contact sheet</title><table>${names
    .map(
      (name) =>
        `<tr><th>${name}${LOOKS.map((look) => `<td><img src="${name}-${look.name}.png" height="420" loading="lazy">`).join('')}`,
    )
    .join('')}</table>`

it.skipIf(!FOLDER || !isBrowserInstalled)('takes a picture of every page in both sizes and both schemes', async () => {
  const service = await startServiceForTest({ ATS_GREENHOUSE: 'on', ATS_ASHBY: 'https://ashby.invalid' })
  const origin = await service.app.listen({ port: 0, host: '127.0.0.1' })
  const { organization, join } = (await loadDemo(service.system))!
  const visitor = visit(service)
  await visitor.post(new URL(join.url).pathname, { firstName: 'Priya', lastName: 'Raman', password: PASSWORD })
  const [cookie, token] = visitor.cookie()!.split('=') as [string, string]
  const signedIn = await addressesOf(service, organization.id, `${origin}/portal/${organization.id}`)
  const pages: [string, string][] = [['sign-in', `${origin}/portal/sign-in`], ['forgot', `${origin}/portal/forgot`], ...signedIn]
  await mkdir(FOLDER!, { recursive: true })
  const browser = await startBrowser()
  onTestFinished(() => browser.close())
  const wanted = pages.filter(([name]) => ONLY.split(',').some((part) => name.startsWith(part)))
  for (const { name: look, ...options } of LOOKS) {
    const context = await browser.newContext({ ...options, baseURL: origin })
    await context.addCookies([{ name: cookie, value: token, url: origin }])
    const page = await context.newPage()
    for (const [name, address] of wanted) {
      await page.goto(address)
      await page.screenshot({ path: path.join(FOLDER!, `${name}-${look}.png`), fullPage: true })
    }
    await context.close()
  }
  await writeFile(path.join(FOLDER!, 'index.html'), sheetOf(wanted.map(([name]) => name)))
})
