import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Archive, authorizeArchive, getArchive, listArchives } from '../../../domain/archives/archives.ts'
import { type Download, startDownload } from '../../../domain/archives/download-archive.ts'
import {
  measureExport,
  requestCandidateArchive,
  requestMemberArchive,
  requestOrganizationExport,
} from '../../../domain/archives/request-archive.ts'
import { findNames } from '../../../domain/audit/audit-log.ts'
import type { Context } from '../../../domain/context.ts'
import { findRequesterName } from '../../../domain/erasure/erasures.ts'
import { findTracesOf } from '../../../domain/erasure/find-traces.ts'
import { DomainError } from '../../../domain/errors.ts'
import { getMember } from '../../../domain/members/members.ts'
import { formatRequester } from '../erasure/erasure.page.ts'
import { emptyForm, type Form } from '../kit/forms.ts'
import { type Page, pathOf, show } from '../kit/layout.ts'
import { submitOnce } from '../kit/once.ts'
import { pageSizeOf, queryOf, readPage } from '../kit/paging.ts'
import { RECENT_AUTHENTICATION } from '../kit/recent-authentication.ts'
import { signedInOf } from '../sign-in/session.ts'
import { ARCHIVES, archivePage, archivesPage, candidateArchivePage, memberArchivePage } from './archives.page.ts'
import { ORGANIZATION_EXPORT, organizationExportPage } from './organization-export.page.ts'

type CandidateRoute = { Params: { inviteId: string } }
type MemberRoute = { Params: { memberId: string } }
type ArchiveRoute = { Params: { archiveId: string } }

/** An owner may export the organization until it is erased. */
const DURING_SUSPENSION = { config: { duringSuspension: true } }
const RECENT_AUTHENTICATION_DURING_SUSPENSION = { config: { ...RECENT_AUTHENTICATION.config, duringSuspension: true } }

/** Seconds between reloads while the archive is being made. */
const REFRESH = '3'

export function archivesRoutes(app: FastifyInstance): void {
  const candidate = async ({ ctx, params }: FastifyRequest<CandidateRoute>, form: Form) =>
    candidateArchivePage(form, { ctx, inviteId: params.inviteId, ...(await findTracesOf(ctx, params.inviteId)) })
  app.get<CandidateRoute>('/candidates/:inviteId/archive', async (request, reply) =>
    show(request, reply, await candidate(request, emptyForm)),
  )
  app.post<CandidateRoute>('/candidates/:inviteId/archive', RECENT_AUTHENTICATION, (request, reply) =>
    requestArchive(request, reply, {
      page: (form) => candidate(request, form),
      async work(ctx) {
        const { email } = await findTracesOf(ctx, request.params.inviteId)
        return requestCandidateArchive(ctx, { address: email })
      },
    }),
  )

  app.get<MemberRoute>('/members/:memberId/archive', async (request, reply) =>
    show(request, reply, await memberOf(request, emptyForm)),
  )
  app.post<MemberRoute>('/members/:memberId/archive', RECENT_AUTHENTICATION, (request, reply) =>
    requestArchive(request, reply, {
      page: (form) => memberOf(request, form),
      work: (ctx) => requestMemberArchive(ctx, request.params.memberId),
    }),
  )

  app.get('/account/archive', async (request, reply) => show(request, reply, ownOf(request, emptyForm)))
  app.post('/account/archive', RECENT_AUTHENTICATION, (request, reply) =>
    requestArchive(request, reply, {
      page: (form) => ownOf(request, form),
      work: (ctx) => requestMemberArchive(ctx, ownId(ctx)),
    }),
  )

  app.get(`/${ARCHIVES}`, async (request, reply) => {
    const { ctx } = request
    const query = queryOf(request)
    const list = await listArchives(ctx, readPage(query, pageSizeOf(request)))
    return show(request, reply, archivesPage({ ctx, list, names: await namesOf(ctx, list.items), query }))
  })

  const exportPage = async ({ ctx }: FastifyRequest, form: Form) =>
    organizationExportPage(form, { ctx, ...(await measureExport(ctx)) })
  app.get(`/${ORGANIZATION_EXPORT}`, DURING_SUSPENSION, async (request, reply) =>
    show(request, reply, await exportPage(request, emptyForm)),
  )
  app.post(`/${ORGANIZATION_EXPORT}`, RECENT_AUTHENTICATION_DURING_SUSPENSION, (request, reply) =>
    requestArchive(request, reply, { page: (form) => exportPage(request, form), work: requestOrganizationExport }),
  )

  app.get<ArchiveRoute>(`/${ARCHIVES}/:archiveId`, DURING_SUSPENSION, async (request, reply) => {
    const { ctx, params } = request
    const archive = await getArchive(ctx, params.archiveId)
    if (!archive.finishedAt) reply.header('refresh', REFRESH)
    const names = await namesOf(ctx, [archive])
    return show(
      request,
      reply,
      archivePage({ ctx, archive, names, requester: formatRequester(archive, await findRequesterName(ctx, archive)) }),
    )
  })

  app.post<ArchiveRoute>(`/${ARCHIVES}/:archiveId/file`, RECENT_AUTHENTICATION_DURING_SUSPENSION, async (request, reply) => {
    const { ctx, params } = request
    const { archive, download } = await startDownload(ctx, params.archiveId, signedInOf(request).sessionId)
    if (!download) return reply.redirect(pathOf(ctx, `${ARCHIVES}/${archive.id}`), 303) // which says why
    const name = `${archive.subject === 'organization' ? 'organization' : 'archive'}-${archive.createdAt.toISOString().slice(0, 10)}.zip`
    reply.header('content-disposition', `attachment; filename="${name}"`).header('content-length', archive.bytes)
    return reply.type('application/zip').send(endWithAnswer(ctx, archive, download, reply))
  })
}

type ArchiveRequest = { page: (form: Form) => Page | Promise<Page>; work: (ctx: Context) => Promise<Archive> }

const requestArchive = (request: FastifyRequest, reply: FastifyReply, { page, work }: ArchiveRequest): Promise<FastifyReply> =>
  submitOnce(request, reply, { page, work: async (ctx) => pathOf(ctx, `${ARCHIVES}/${(await work(ctx)).id}`) })

async function memberOf({ ctx, params }: FastifyRequest<MemberRoute>, form: Form): Promise<Page> {
  authorizeArchive(ctx, null)
  const { id, email } = await getMember(ctx, params.memberId)
  const trail: NonNullable<Page['trail']> = [
    ['Members', pathOf(ctx, 'members')],
    [email, pathOf(ctx, `members/${id}`)],
  ]
  return memberArchivePage(form, { ctx, email, path: `members/${id}/archive`, trail })
}

function ownOf(request: FastifyRequest, form: Form): Page {
  const { ctx } = request
  const { email } = signedInOf(request).credential
  return memberArchivePage(form, { ctx, email, path: 'account/archive', trail: [['My account', pathOf(ctx, 'account')]] })
}

function ownId({ actor }: Context): string {
  if (actor.kind !== 'member') throw new DomainError('not_permitted')
  return actor.id
}

const namesOf = (ctx: Context, archives: Archive[]): Promise<ReadonlyMap<string, string>> =>
  findNames(ctx, { memberIds: archives.flatMap(({ memberId }) => memberId ?? []), keyIds: [] })

/**
 * Closes the download when the response closes. It is complete once the last byte was handed on: a client may close the connection before
 * the response ends.
 */
function endWithAnswer(ctx: Context, archive: Archive, { content, end }: Download, { raw }: FastifyReply): Readable {
  let bytesSent = 0
  async function* countBytes() {
    for await (const piece of content) {
      bytesSent += piece.length
      yield piece
    }
  }
  const close = () => {
    // The response is already gone, so the failure is only logged.
    end(bytesSent >= archive.bytes).catch((err: unknown) => {
      const about = { err, organizationId: ctx.organization.id, archiveId: archive.id }
      ctx.deps.log.error(about, 'the end of an archive download could not be recorded: it can be repeated')
    })
  }
  if (raw.destroyed) close()
  else raw.once('close', close)
  return Readable.from(countBytes(), { objectMode: false })
}
