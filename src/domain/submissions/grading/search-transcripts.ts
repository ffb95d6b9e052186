import { sql } from '../../../db/builder.ts'
import type { SqlBool } from '../../../db/queries.ts'
import { anyOf } from '../../../db/query.ts'
import type { Prisma } from '../../../generated/prisma/client.ts'
import { isBlindTo } from '../../assessments/blind-grading.ts'
import { may } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { validateFilter } from '../../lists/filters.ts'
import { type ListPage, type PageRequest, readPage } from '../../lists/page.ts'
import type { TranscriptSegment } from '../../ports/transcriber.ts'
import { isUuid } from '../../text/uuid.ts'
import { readSegments } from '../transcripts/segments.ts'
import { isReadableByGrader } from './waiting-submissions.ts'

/** Languages whose words are searched by their stems, as in `transcript_words` in the migration. */
export const STEMMED_LANGUAGES = ['ar', 'da', 'de', 'en', 'es', 'fi', 'fr', 'hu', 'it', 'nl', 'no', 'pt', 'ro', 'ru', 'sv', 'tr']

const include = {
  transcript: { select: { language: true, segments: true } },
  attempts: { select: { questionNumber: true } },
  submission: {
    select: {
      id: true,
      inviteId: true,
      invite: { select: { recipientName: true, recipientEmail: true } },
      assessment: { select: { blindGrading: true } },
    },
  },
} satisfies Prisma.MediaFileInclude

type FoundSubmission = Prisma.MediaFileGetPayload<{ include: typeof include }>['submission']

/** Recorded answer that contains all the words. @property lines the first lines with any of them. */
export type TranscriptHit = {
  mediaId: string
  submission: FoundSubmission
  questionNumber: number
  language: string
  lines: TranscriptSegment[]
}

/** Lines of a recording that are shown. */
const MAX_LINES = 5

type SearchedAssessment = { id: string; name: string }

/**
 * Assessment in whose answers the actor may search, else null. Where candidates are graded blind, their graders may not: words can show that
 * two answers are of one person.
 */
async function findSearchedAssessment(ctx: Context, id: string): Promise<SearchedAssessment | null> {
  const mayRead = may(ctx, 'read_transcripts') && (may(ctx, 'read') || may(ctx, 'read_as_grader'))
  if (!mayRead || !isUuid(id)) return null
  const assessment = await ctx.db.assessment.findFirst({ where: { organizationId: ctx.organization.id, id } })
  return assessment && !isBlindTo(ctx, assessment) ? assessment : null
}

/** @throws DomainError assessment_not_found, also if the actor may not search its answers. */
export async function getSearchedAssessment(ctx: Context, id: string): Promise<SearchedAssessment> {
  const assessment = await findSearchedAssessment(ctx, id)
  if (!assessment) throw new DomainError('assessment_not_found')
  return assessment
}

/** True if the actor may search the assessment's answers, and the organization has transcripts. */
export async function offersSearch(ctx: Context, assessmentId: string): Promise<boolean> {
  if (!(await findSearchedAssessment(ctx, assessmentId))) return false
  const where = { organizationId: ctx.organization.id, state: 'ready' }
  return (await ctx.db.transcript.findFirst({ where, select: { mediaId: true } })) !== null
}

/**
 * Recorded answers of an assessment's submitted tests whose transcripts have all the words, newest first.
 *
 * @throws DomainError assessment_not_found; invalid: a search that is too long.
 */
export async function searchTranscripts(
  ctx: Context,
  { assessmentId, search }: { assessmentId: string; search: string },
  page: PageRequest,
): Promise<ListPage<TranscriptHit>> {
  await getSearchedAssessment(ctx, assessmentId)
  validateFilter({ search })
  const indexed = await readIndexedWords(ctx, search)
  if (indexed.length === 0) return { items: [], total: 0, page: 1, pageSize: page.size }
  const found = findRecordings(ctx, assessmentId, indexed)
  return readPage(
    page,
    async () => (await found.select(sql<number>`count(*)::int`.as('count')).executeTakeFirstOrThrow()).count,
    async ({ skip, take }) => {
      const newest = found.orderBy('submissions.submittedAt', 'desc').orderBy('mediaFiles.id').offset(skip).limit(take)
      return readHits(
        ctx,
        (await newest.select('mediaFiles.id').execute()).map(({ id }) => id),
        search,
      )
    },
  )
}

function findRecordings(ctx: Context, assessmentId: string, indexed: readonly IndexedWords[]) {
  const { db } = ctx
  const submissions = db
    .selectFrom('submissions')
    .where('submissions.assessmentId', '=', assessmentId)
    .where('submissions.state', 'in', ['submitted', 'released'])
  const readable = may(ctx, 'read') ? submissions : submissions.where((eb) => isReadableByGrader(ctx, eb))
  return readable
    .innerJoin(db.table('mediaFiles'), 'mediaFiles.submissionId', 'submissions.id')
    .where('mediaFiles.state', '=', sql.lit('ready'))
    .where('mediaFiles.id', 'in', findMediaIds(ctx, indexed))
}

/** Words of a search as the index has them, with the languages in which they are these. */
type IndexedWords = { words: string; languages: string[] }

/**
 * Words have different stems in different languages, so each language's stems are looked up. Empty if all words are ignored ones, such as
 * "the".
 */
async function readIndexedWords({ db, organization }: Context, search: string): Promise<IndexedWords[]> {
  const languages = sql<{ language: string }>`unnest(${['', ...STEMMED_LANGUAGES]}::text[])`.as<'these'>(sql`these (language)`)
  const words = sql<string>`transcript_words(${organization.id}::uuid, these.language, ${search}::text)::text`
  const found = await db
    .selectFrom(languages)
    .select(['these.language', words.as('words')])
    .execute()
  const byWords = Map.groupBy(found, (row) => row.words)
  byWords.delete('{}')
  return [...byWords].map(([words, rows]) => ({ words, languages: rows.map(({ language }) => language) }))
}

/** Ids of the recordings whose transcripts have the words in their own language. */
function findMediaIds({ db }: Context, indexed: readonly IndexedWords[]) {
  const [first, ...further] = indexed.map(({ words, languages }) => {
    const isLanguage = sql<SqlBool>`transcripts.language = any(${languages}::text[])`
    const isOther = sql<SqlBool>`transcripts.language <> all(${STEMMED_LANGUAGES}::text[])`
    return db
      .selectFrom('transcripts')
      .where(
        sql<SqlBool>`transcript_words(transcripts.organization_id, transcripts.language, transcripts.text) @> ${words}::bigint[]`,
      )
      .where(sql<SqlBool>`transcripts.text <> ''`)
      .where((eb) => (languages.includes('') ? eb.or([isLanguage, isOther]) : isLanguage))
      .select('transcripts.mediaId')
  })
  return further.reduce((union, query) => union.unionAll(query), first!)
}

/** In the order of the ids. */
async function readHits({ db, organization }: Context, ids: string[], search: string): Promise<TranscriptHit[]> {
  const where = { organizationId: organization.id, id: anyOf(ids) }
  const rows = new Map((await db.mediaFile.findMany({ where, include })).map((row) => [row.id, row]))
  const lines = await findLines(db, ids, search)
  return ids.flatMap((mediaId): TranscriptHit[] => {
    const { submission, transcript, attempts } = rows.get(mediaId) ?? {}
    if (!submission || !transcript || !attempts?.[0]) return []
    const segments = readSegments(transcript.segments)
    const places = lines.get(mediaId) ?? []
    return [
      {
        ...{ mediaId, submission, questionNumber: attempts[0].questionNumber, language: transcript.language },
        lines: places.slice(0, MAX_LINES).flatMap((place) => segments[place] ?? []),
      },
    ]
  })
}

/** Positions of the segments that contain any of the words, by recording. */
async function findLines(db: Context['db'], ids: string[], search: string): Promise<Map<string, number[]>> {
  const wordsOf = (text: ReturnType<typeof sql>) =>
    sql`transcript_words(transcripts.organization_id, transcripts.language, ${text})`
  const places = sql<number[]>`array(
    select (line.place - 1)::int from jsonb_array_elements(transcripts.segments) with ordinality as line (segment, place)
    where ${wordsOf(sql`line.segment ->> 2`)} && ${wordsOf(sql`${search}::text`)} order by line.place)`
  const found = await db
    .selectFrom('transcripts')
    .where('transcripts.mediaId', '=', sql<string>`any(${ids}::uuid[])`)
    .select(['transcripts.mediaId', places.as('places')])
    .execute()
  return new Map(found.map((row) => [row.mediaId, row.places]))
}
