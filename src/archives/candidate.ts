import {
  type ArchivedSubmission,
  openArchivedMedia,
  readArchivedInvite,
  readArchivedSubmission,
  readDataOutsideInvites,
  readInviteIdsOfCandidate,
} from '../domain/archives/candidate-data.ts'
import type { Context } from '../domain/context.ts'
import { mediaFileName } from '../domain/files/media-file-name.ts'
import type { Zip } from '../files/zip.ts'
import {
  type ListedInvite,
  type MediaPaths,
  showEvents,
  showInvite,
  showMessages,
  showOther,
  showSubmission,
} from './candidate.json.ts'
import { candidatePage, invitePage } from './candidate.page.ts'
import { toFile } from './page.ts'

const json = (content: object): string => `${JSON.stringify(content, null, 2)}\n`

/** Adds all data about the address, one invite at a time to limit memory. */
export async function addCandidate(ctx: Context, address: string, zip: Zip): Promise<void> {
  const madeAt = ctx.deps.clock()
  const listed: ListedInvite[] = []
  for await (const id of readInviteIdsOfCandidate(ctx, address)) {
    const folder = `invites/${listed.length + 1}`
    const invite = await addInvite(ctx, zip, { id, folder })
    if (invite) listed.push(invite)
  }
  const otherData = showOther(await readDataOutsideInvites(ctx, address))
  const archiveFacts = { subject: 'candidate', email: address, organization: ctx.organization.name, madeAt: madeAt.toISOString() }
  await zip.add('about.json', json({ about: { ...archiveFacts, invites: listed.length } }))
  for (const [name, content] of Object.entries(otherData)) await zip.add(`${name}.json`, json({ [name]: content }))
  await zip.add(
    'index.html',
    toFile(candidatePage({ address, organization: ctx.organization.name, madeAt, listed, besides: otherData })),
  )
}

type InvitePlace = { id: string; folder: string }

async function addInvite(ctx: Context, zip: Zip, { id, folder }: InvitePlace): Promise<ListedInvite | undefined> {
  const invite = await readArchivedInvite(ctx, id)
  if (!invite) return undefined
  const submissions = []
  for (const submissionId of invite.submissionIds) {
    const submission = await readArchivedSubmission(ctx, submissionId)
    if (!submission) continue
    const filed = await addMedia(ctx, zip, submission, folder)
    submissions.push(showSubmission(ctx, submission, filed))
  }
  const shown = {
    invite: showInvite(invite),
    events: showEvents(invite),
    messages: showMessages(invite, ctx.deps.clock()),
    submissions,
  }
  for (const [name, content] of Object.entries(shown)) await zip.add(`${folder}/${name}.json`, json({ [name]: content }))
  await zip.add(`${folder}/index.html`, toFile(invitePage(shown)))
  return { invite: shown.invite, folder, result: submissions.findLast(({ result }) => result !== null)?.result ?? null }
}

/** @returns the paths by media id, relative to the invite's folder. */
async function addMedia(ctx: Context, zip: Zip, submission: ArchivedSubmission, folder: string): Promise<MediaPaths> {
  const filed: MediaPaths = new Map()
  for (const [i, mediaFile] of submission.media.entries()) {
    const content = await openArchivedMedia(ctx, mediaFile)
    if (!content) continue
    const file = `media/${submission.id.slice(-12)}-${i + 1}-${mediaFileName(mediaFile)}`
    filed.set(mediaFile.id, { file, bytes: await zip.addStream(`${folder}/${file}`, content) })
  }
  return filed
}
