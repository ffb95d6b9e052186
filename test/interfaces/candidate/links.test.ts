import { describe, expect, it } from 'vitest'
import { signInvitation, signSession } from '../../../src/domain/secrets/invitation-tokens.ts'
import { candidateOf, expectPage } from '../../support/candidate.ts'
import { unknownId } from '../../support/factories.ts'
import { SECRET_KEY, type Service, startServiceForFile, startServiceForTest } from '../../support/service.ts'

const service = await startServiceForFile()

async function makeInvite(of: Service) {
  const { id } = await of.make.organization()
  const invite = await of.make.invite(await of.make.assessment(id))
  return { invite, candidate: candidateOf(of, invite) }
}

describe('a forged or outdated link', () => {
  const inviteId = unknownId
  const good = signInvitation([SECRET_KEY], { inviteId, linkVersion: 1 })
  const other = good.at(5) === 'A' ? 'B' : 'A'
  const links: Record<string, string> = {
    'one changed character': good.slice(0, 5) + other + good.slice(6),
    'another key': signInvitation(['another secret key 0123456789abcdefghij'], { inviteId, linkVersion: 1 }),
    'the reference of a session': signSession([SECRET_KEY], { inviteId, session: inviteId }),
    'something after it': `${good}A`,
    padding: `${good}=`,
    'a UUID': inviteId,
    'nothing readable': '%00%ff',
    'a percent sign too many': `${good}%`,
    'bytes that are no UTF-8': '%c3%28',
    'a path': '..%2f..%2fetc',
    'too many characters': 'a'.repeat(201),
    'far too many characters': 'a'.repeat(9_000),
    'nothing at all': '',
  }

  it.each(Object.keys(links))('shows the page of unknown links: %s', async (what) => {
    for (const method of ['get', 'head'] as const) expectPage(await service.http()[method](`/i/${links[what]}`), 404)
    const page = await service.http().get(`/i/${links[what]}`)
    expect(page.text).toContain('<h1>This link is not valid</h1>')
    const pressed = await service.http().post(`/i/${links[what]}/accept`).type('form').send({ proof: 'x' })
    expectPage(pressed, 404)
  })

  it('shows the same page if it was signed correctly, but the invite is gone', async () => {
    const { invite, candidate } = await makeInvite(service)
    await service.db.invite.delete({ where: { id: invite.id } })
    expectPage(await candidate.open(), 404)
    const pressed = await candidate.press('accept').redirects(1)
    expectPage(pressed, 404)
    expect(pressed.text).toContain('<h1>This link is not valid</h1>')
  })

  it('shows whom to ask if a newer link has replaced it', async () => {
    const { invite, candidate } = await makeInvite(service)
    await service.db.invite.update({ where: { id: invite.id }, data: { linkVersion: 2 } })
    await service.db.organization.update({ where: { id: invite.organizationId }, data: { replyTo: 'talent@example.org' } })
    const { name } = await service.db.organization.findUniqueOrThrow({ where: { id: invite.organizationId } })
    const page = await candidate.open()
    expectPage(page, 404)
    for (const words of [
      '<h1>This link is not valid</h1>',
      'A newer invitation has replaced it',
      name,
      'href="mailto:talent@example.org"',
    ])
      expect(page.text).toContain(words)
  })

  it('opens if the key that signed it is no longer the newest', async () => {
    const rotated = await startServiceForTest({ SECRET_KEY: `the newest key 0123456789abcdefghijklmn,${SECRET_KEY}` })
    const { invite } = await makeInvite(rotated)
    const link = `/i/${signInvitation([SECRET_KEY], { inviteId: invite.id, linkVersion: 1 })}`
    const page = await rotated.http().get(link)
    const proof = /name="proof" value="([^"]+)"/.exec(page.text)![1]
    expect((await rotated.http().post(`${link}/accept`).type('form').send({ proof })).status).toBe(303)
    expect(await rotated.db.invite.findUnique({ where: { id: invite.id } })).toMatchObject({ status: 'accepted' })
  })
})
