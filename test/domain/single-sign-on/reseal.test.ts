import { expect, it } from 'vitest'
import {
  decryptClientSecret,
  encryptClientSecret,
  encryptDraft,
  reencryptClientSecrets,
  withDraft,
} from '../../../src/domain/single-sign-on/provider-secrets.ts'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile()
const { db, deps, make, system } = service

it('encrypts saved and pending client secrets again under the newest key', async () => {
  const older = { ...system, deps: { ...deps, secretKeys: ['o'.repeat(32)] } }
  const both = { ...system, deps: { ...deps, secretKeys: ['n'.repeat(32), 'o'.repeat(32)] } }
  const newer = { ...system, deps: { ...deps, secretKeys: ['n'.repeat(32)] } }
  const { id: organizationId } = await make.organization()
  const [id, at] = [deps.newId(), deps.clock()]
  const issuer = 'https://login.example.com'
  const connection = {
    issuer,
    clientId: 'new',
    clientAuth: 'client_secret_post',
    clientSecret: 'new secret',
    secretExpiresAt: at,
  }
  const terms = { requiredClaims: { tid: 'ours' }, secondFactor: 'ours', acrValues: [] }
  const sealed = {
    encryptedClientSecret: encryptClientSecret(older, id, 'a secret'),
    encryptedDraft: encryptDraft(older, id, { ...connection, ...terms }),
  }
  const row = { id, organizationId, name: 'Acme', issuer, clientId: 'x', clientAuth: 'client_secret_basic', ...sealed }
  const provider = await db.signInProvider.create({ data: { ...row, createdAt: at, updatedAt: at } })
  expect([decryptClientSecret(newer, provider), withDraft(newer, provider)]).toEqual([null, provider])
  await reencryptClientSecrets(both)
  const after = await db.signInProvider.findUniqueOrThrow({ where: { id } })
  expect(decryptClientSecret(newer, after)).toBe('a secret')
  const tried = withDraft(newer, after)
  expect({ ...tried, clientSecret: decryptClientSecret(newer, tried) }).toMatchObject({ ...connection, ...terms })
  await reencryptClientSecrets(both)
  expect(await db.signInProvider.findUniqueOrThrow({ where: { id } })).toEqual(after)
})
