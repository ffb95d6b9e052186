import type { Pool, PoolClient } from 'pg'
import { v7 as uuidv7 } from 'uuid'
import { fingerprintApiKey, generateApiKey } from '../../src/domain/access/api-keys.ts'
import { addEvents } from './fill-events.ts'
import { addFurniture, addLanguages, type Furniture } from './fill-furniture.ts'
import { addGrading, type Grading } from './fill-grading.ts'
import { withoutIndexes } from './fill-indexes.ts'
import { addInvites } from './fill-invites.ts'
import { addPortal, type Portal } from './fill-portal.ts'
import type { Options } from './options.ts'

/** An organization to ask about, and what the requests need to know of it. */
export type Organization = Furniture & {
  /** Of its API key. */
  key: string
  keyId: string
  /** How many invites it was made with. */
  size: number
  /** Of up to 200 invites, from all over the list. */
  inviteIds: string[]
  /** The position of its first event in the feed; there is one for each invite, and all follow it. */
  firstEvent: number
}

export type Organizations = {
  small: Organization
  middle: Organization
  large: Organization
  /** Without invites, one for each rival that makes some. */
  service: Organization
  floor: Organization
  /** The portal of the large one. */
  portal: Portal
  /** Where candidates have handed in. */
  grading: { few: Grading; many: Grading }
}

const SAMPLED_INVITES = 200

/** Fills an empty database with organizations that differ in nothing but the number of their invites. */
export async function fill(pool: Pool, { sizes, submissions }: Pick<Options, 'sizes' | 'submissions'>): Promise<Organizations> {
  const client = await pool.connect()
  try {
    await client.query(`SET synchronous_commit = off; SET work_mem = '256MB'; SET maintenance_work_mem = '512MB'`)
    const languageIds = await addLanguages(client)
    const add = (name: string, size: number) => addOrganization(client, name, size, languageIds)
    const addGraded = async (name: string, size: number) => addGrading(client, await add(name, 0), size)
    const tables = ['invites', 'invite_tags', 'events', 'paper_questions', 'takes', 'grades']
    const made = await withoutIndexes(client, tables, async () => ({
      small: await add('small', sizes.small),
      middle: await add('middle', sizes.middle),
      large: await add('large', sizes.large),
      service: await add('service', 0),
      floor: await add('floor', 0),
      grading: { few: await addGraded('few', submissions.few), many: await addGraded('many', submissions.many) },
    }))
    const portal = await addPortal(client, made.large, sizes.large)
    console.error('  vacuum, analyze, checkpoint')
    await client.query('VACUUM (ANALYZE)')
    await client.query('CHECKPOINT')
    return { ...made, portal }
  } finally {
    client.release(true) // its settings were the fill's
  }
}

async function addOrganization(client: PoolClient, name: string, size: number, languageIds: string[]): Promise<Organization> {
  const furniture = await addFurniture(client, name, languageIds)
  const { id, memberIds } = furniture
  const key = generateApiKey('live')
  const keyId = uuidv7()
  const { hash, lastFour } = fingerprintApiKey(key)
  await client.query(
    `INSERT INTO api_keys (id, organization_id, name, mode, hash, last_four, created_by_id, created_at)
     VALUES ($1, $2, 'bench', 'live', $3, $4, $5, now())`,
    [keyId, id, Buffer.from(hash), lastFour, memberIds[0]],
  )
  await addInvites(client, { ...furniture, keyId }, name, size)
  const firstEvent = await addEvents(client, id)
  const { rows } = await client.query<{ id: string }>(
    `SELECT id FROM (SELECT id, row_number() OVER (ORDER BY sent_at) AS n FROM invites WHERE organization_id = $1) AS numbered
     WHERE n % greatest(1, $2::int / ${SAMPLED_INVITES}) = 0 LIMIT ${SAMPLED_INVITES}`,
    [id, size],
  )
  return { ...furniture, key, keyId, size, inviteIds: rows.map((row) => row.id), firstEvent }
}
