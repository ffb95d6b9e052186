import { expect, it } from 'vitest'
import { fieldsIn } from '../../../support/forms.ts'
import { startServiceForFile } from '../../../support/service.ts'
import { browse, goThrough, IDP_ON_LOOPBACK, setUpSso } from '../../../support/sso.ts'

const service = await startServiceForFile(IDP_ON_LOOPBACK)
const HOUR_MS = 3_600_000
const LONG = `first line\r\n\r\n"Ünïcode" & <b>marks</b> \u{1f393}'; last${'x'.repeat(20_000)}\r\n`
const LIST = `email\r\n${Array.from({ length: 10_000 }, (_, i) => `candidate.${i}@example.com`).join('\r\n')}`

/** Action and fields of the page's last form. */
function formIn(text: string): { action: string; fields: Record<string, string> } {
  const form = text.slice(text.lastIndexOf('<form'))
  return { action: /action="([^"]+)"/.exec(form)![1]!, fields: fieldsIn({ text: `<main${form}` }) }
}
const resumeIn = ({ headers }: { headers: Record<string, string> }) =>
  new URL(headers.location!, 'http://x').searchParams.get('next') ?? ''

it('saves a long text and a long list for members of single sign-on, without scripts, and sends each once', async () => {
  const { organization, admin, idp, begin, person } = await setUpSso(service, { provisionsMembers: 'yes' })
  const { home } = admin
  const assessment = await service.make.assessment(organization.id)
  const signIn = async (browser: ReturnType<typeof browse>, next: string) =>
    (await goThrough(browser, idp, `${begin}?${new URLSearchParams({ next })}`)).headers.location
  const ada = browse(service)
  const hers = person('ada')
  idp.person = hers
  await signIn(ada, home)
  service.clock.advance(13 * HOUR_MS)
  const text = await ada.post(`${home}tags`, { name: 'Kept', color: '#336699', description: 'Kept', long: LONG })
  const list = await ada.post(`${home}invites/batches`, { assessmentId: assessment.id, list: LIST })
  for (const { status, headers } of [text, list])
    expect([status, headers.location]).toEqual([303, expect.stringMatching(/^\/portal\/sign-in\?next=%2Fportal%2Fresume%2F/)])

  idp.person = person('grace')
  const grace = browse(service)
  expect(await signIn(grace, resumeIn(text))).toBe(resumeIn(text))
  for (const sent of [text, list]) expect((await grace.get(resumeIn(sent))).status).toBe(404)

  idp.person = hers
  expect(await signIn(ada, resumeIn(text))).toBe(resumeIn(text))
  const tags = () => service.db.tag.count({ where: { organizationId: organization.id } })
  const batches = () => service.db.inviteBatch.count({ where: { organizationId: organization.id } })
  const shown = formIn((await ada.get(resumeIn(text))).text)
  const shownList = formIn((await ada.get(resumeIn(list))).text)
  expect([shown.fields.long, shownList.fields.list, await tags(), await batches()]).toEqual([LONG, LIST, 0, 0])
  for (const { action, fields } of [shown, shownList, shown, shownList]) expect((await ada.post(action, fields)).status).toBe(303)
  expect([await tags(), await batches()]).toEqual([1, 1])
})
