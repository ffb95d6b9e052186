import { describe, expect, it } from 'vitest'
import { signInvitation } from '../../src/domain/secrets/invitation-tokens.ts'
import { unknownId } from '../support/factories.ts'
import { SECRET_KEY, type Service, startServiceForFile, startServiceForTest } from '../support/service.ts'

const service = await startServiceForFile()

const otherKey = 'another secret that has signed nothing here 0123'
const open = (token: string) => service.http().get(`/i/${token}`)

async function makeInvite({ make }: Service, data: object = {}) {
  const { id } = await make.organization()
  const assessment = await make.assessment(id)
  return { assessment, invite: await make.invite(assessment, data) }
}
const tokenOf = ({ id, linkVersion }: { id: string; linkVersion: number }, ...keys: string[]) =>
  signInvitation(keys.length > 0 ? keys : [SECRET_KEY], { inviteId: id, linkVersion })

describe("the candidate's link", () => {
  it("opens a page that names the assessment, and that caches, search engines, and other sites can't use", async () => {
    const { invite, assessment } = await makeInvite(service)
    const page = await open(tokenOf(invite))
    expect([page.status, page.type]).toEqual([200, 'text/html'])
    expect(page.text).toContain(assessment.name)
    expect(page.headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
    expect(page.headers['x-robots-tag']).toContain('noindex')
    expect(page.headers['content-security-policy']).toMatch(/default-src 'none'.*frame-ancestors 'none'/)
  })

  it.each(['.', ')', '>', ',', '/', '%3E', ').'])('redirects to the link if %s is appended', async (sign) => {
    const token = tokenOf((await makeInvite(service)).invite)
    const { status, headers } = await service.http().get(`/i/${token}${sign}?lang=de`)
    expect([status, headers.location]).toEqual([302, `/i/${token}?lang=de`])
  })

  it('redirects other mail links with an appended character, but no address that really ends that way', async () => {
    const organization = `/portal/${unknownId}`
    const redirectOf = async (path: string) => (await service.http().get(path)).headers.location
    for (const path of ['/u/token', '/media/token', '/portal/join/token', '/portal/reset/token', `${organization}/invites/1`])
      expect(await redirectOf(`${path}>.`)).toBe(path)
    expect(await redirectOf(`${organization}/.`)).toBe(`${organization}/`)
    for (const path of [`${organization}/`, `${organization.replace('portal', 'portal/test')}/`])
      expect(await redirectOf(path)).not.toBe(path.slice(0, -1))
    expect(await redirectOf('/api/v1/tags/')).toBeUndefined()
  })

  it('returns a 404 page with any one of its characters changed', async () => {
    const token = tokenOf((await makeInvite(service)).invite)
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const altered = [...token].map((character, at) => {
      const next = alphabet[(alphabet.indexOf(character) + 1) % alphabet.length]!
      return token.slice(0, at) + next + token.slice(at + 1)
    })
    const answers = await Promise.all(altered.map(open))
    expect(answers.map(({ status }) => status)).toEqual(altered.map(() => 404))
  })

  it.each([
    ['signed with another key', (invite: { id: string; linkVersion: number }) => tokenOf(invite, otherKey)],
    ['of another link version', ({ id }: { id: string }) => tokenOf({ id, linkVersion: 2 })],
    ['of an invite that does not exist', () => tokenOf({ id: unknownId, linkVersion: 1 })],
    ['cut off', (invite: { id: string; linkVersion: number }) => tokenOf(invite).slice(0, -1)],
    ['with an extra character', (invite: { id: string; linkVersion: number }) => `${tokenOf(invite)}A`],
    ['padded', (invite: { id: string; linkVersion: number }) => `${tokenOf(invite)}=`],
    [
      'in the other base64 alphabet',
      (invite: { id: string; linkVersion: number }) => encodeURIComponent(`+/${tokenOf(invite).slice(2)}`),
    ],
    ["that is the invite's ID", ({ id }: { id: string }) => id],
    ['that is empty', () => ''],
    ["that can't be decoded", () => '%00'],
  ])('returns a 404 page if it is one %s', async (_name, forge) => {
    const { invite, assessment } = await makeInvite(service)
    const page = await open(forge(invite))
    expect(page.status).toBe(404)
    expect(page.type).toBe('text/html')
    expect(page.text).not.toContain(assessment.name)
  })

  it('is invalid once a newer link has replaced it', async () => {
    const { invite } = await makeInvite(service)
    const old = tokenOf(invite)
    await service.db.invite.update({ where: { id: invite.id }, data: { linkVersion: 2 } })
    expect((await open(old)).status).toBe(404)
    expect((await open(tokenOf({ id: invite.id, linkVersion: 2 }))).status).toBe(200)
  })

  it('is never in a log line', async () => {
    const { invite } = await makeInvite(service)
    const token = tokenOf(invite)
    await open(token)
    await open(`${token}A`)
    expect(service.logLines.join('')).toContain('/i/:token')
    expect(service.logLines.join('')).not.toContain(token)
  })
})

describe('a list of secret keys', () => {
  it('opens all links, and signs new ones with the newest key', async () => {
    const rotated = await startServiceForTest({ SECRET_KEY: `${otherKey},${SECRET_KEY}` })
    const { invite } = await makeInvite(rotated)
    for (const key of [otherKey, SECRET_KEY]) expect((await rotated.http().get(`/i/${tokenOf(invite, key)}`)).status).toBe(200)
    expect((await rotated.http().get(`/i/${tokenOf(invite, 'a key that was never configured 0123456789')}`)).status).toBe(404)
    expect(rotated.site.secretKeys).toEqual([otherKey, SECRET_KEY])

    const { id, key } = await rotated.make.organization()
    const assessment = await rotated.make.assessment(id)
    const { body } = await rotated
      .v1(key)
      .post('/invites')
      .send({ assessmentId: assessment.id, recipientEmail: 'candidate@example.com' })
    const { id: emailId } = await rotated.db.inviteEmail.findFirstOrThrow({ where: { inviteId: body.invite.id } })
    const mail = await rotated.mailbox(`/${emailId}?view=text`)
    expect(mail.text).toContain(`/i/${tokenOf({ id: body.invite.id, linkVersion: 1 }, otherKey)}`)
  })
})
