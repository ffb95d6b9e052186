import { ARCHIVE_DAYS, type Archive } from '../../../domain/archives/archives.ts'
import { MAX_ARCHIVES } from '../../../domain/archives/request-archive.ts'
import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import type { Traces } from '../../../domain/erasure/find-traces.ts'
import type { ListPage } from '../../../domain/lists/page.ts'
import { type Html, html } from '../../../html/html.ts'
import { TRACE_LABELS } from '../erasure/erasure.page.ts'
import { time } from '../kit/formatting.ts'
import { type Form, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { sizedPager } from '../kit/paging.ts'
import { empty, factList, personalDataLinks } from '../kit/parts.ts'
import { table } from '../kit/table.ts'

export const ARCHIVES = 'archives'

export const candidateArchivePage = (
  form: Form,
  { ctx, inviteId, email, traces }: { ctx: Context; inviteId: string; email: string; traces: Traces },
): Page => ({
  title: `Archive of ${email}`,
  heading: 'Download all data',
  subtitle: email,
  trail: [
    ['Candidates', pathOf(ctx, 'candidates')],
    [email, pathOf(ctx, `candidates/${inviteId}`)],
  ],
  body: html`${mistakes(form)}${panel(
    'found',
    'Contents',
    html`${table(
      'found-heading',
      ['Data', 'Count'],
      TRACE_LABELS.map(([kind, label]) => [label, traces[kind]]),
    )}
<p class="hint mt-3">Also includes the timeline of each invite, and requested erasures. It names nobody else, such as inviters or graders.</p>`,
  )}${requestPanel(pathOf(ctx, `candidates/${inviteId}/archive`), 'candidate')}`,
})

export const memberArchivePage = (
  form: Form,
  { ctx, email, path, trail }: { ctx: Context; email: string; path: string; trail: NonNullable<Page['trail']> },
): Page => ({
  title: `Archive of ${email}`,
  heading: 'Download all data',
  subtitle: email,
  trail,
  body: html`${mistakes(form)}${panel(
    'found',
    'Contents',
    html`<p>Name, address, roles, and preferences in this organization; sessions, browsers, and sign-in methods; emails to the member; their entries in the audit log; and the points they gave, without candidates’ names.</p>
<p class="hint mt-3">If they are also a member of another organization, sessions, browsers, and sign-in methods are included only if they request the archive themselves.</p>`,
  )}${requestPanel(pathOf(ctx, path), 'member')}`,
})

const requestPanel = (address: string, requester: keyof typeof MAX_ARCHIVES): Html =>
  panel(
    'ask',
    'New archive',
    html`<p>A ZIP file, with pages to read in a browser and JSON for programs. Only you can download it, once, within ${ARCHIVE_DAYS} days. Then it is deleted. You can create at most ${MAX_ARCHIVES[requester]} archives of ${requester}s in 24 hours.</p>
<form class="mt-3" method="post" action="${address}">${onceField()}
<button class="btn btn-primary">Create archive</button>
</form>`,
  )

const labelProgress = ({ finishedAt, fetchedAt, retryUntil }: Archive) => {
  if (fetchedAt) return html`Downloaded ${time(fetchedAt)}`
  if (retryUntil) return 'Download started'
  return finishedAt ? 'Ready' : 'Being created'
}

/** @property names names of members, by id. */
type ListFacts = { ctx: Context; list: ListPage<Archive>; names: ReadonlyMap<string, string>; query: URLSearchParams }

export const archivesPage = ({ ctx, list, names, query }: ListFacts): Page => ({
  title: 'Archives',
  subtitle: `Files with all data about one person, or about the organization. Each is kept for ${ARCHIVE_DAYS} days.`,
  trail: [['Settings', pathOf(ctx, 'settings')]],
  body: html`<section class="panel" aria-labelledby="archives-heading">
<h2 class="mb-4" id="archives-heading">Archives</h2>
${
  list.items.length === 0
    ? empty('archive', 'No archives yet. To create one, open the page of a candidate or a member.', personalDataLinks(ctx))
    : table(
        'archives-heading',
        ['About', 'Requested', 'Status', 'Deleted on'],
        list.items.map((archive) => [
          html`<a class="named" href="${pathOf(ctx, `${ARCHIVES}/${archive.id}`)}">${nameOf(archive, names)}</a>`,
          time(archive.createdAt),
          labelProgress(archive),
          time(archive.expiresAt),
        ]),
      )
}
${sizedPager(pathOf(ctx, ARCHIVES), query, list)}
</section>`,
})

const nameOf = ({ subject, address, memberId }: Archive, names: ReadonlyMap<string, string>): string =>
  subject === 'organization' ? 'The organization' : (address ?? (memberId && names.get(memberId)) ?? 'A former member')

/** @param facts.requester name of the requester, if still known. */
export const archivePage = ({
  ctx,
  archive,
  names,
  requester,
}: Omit<ListFacts, 'list' | 'query'> & { archive: Archive; requester: string }): Page => {
  const { createdAt, finishedAt, expiresAt, bytes } = archive
  return {
    title: 'Download all data',
    subtitle: nameOf(archive, names),
    // Members who requested an archive of their own data may not see the list of archives.
    trail: may(ctx, 'erase_candidates')
      ? [
          ['Settings', pathOf(ctx, 'settings')],
          ['Archives', pathOf(ctx, ARCHIVES)],
        ]
      : [['My account', pathOf(ctx, 'account')]],
    body: panel(
      'state',
      'Status',
      html`${factList([
        ['Requested', html`${time(createdAt)} by ${requester}`],
        ['Status', labelProgress(archive)],
        ['Size', finishedAt !== null && `${(bytes / 1e6).toFixed(1)} MB`],
        ['Deleted on', time(expiresAt)],
      ])}
${nextStep(ctx, archive, requester)}`,
    ),
  }
}

function nextStep(ctx: Context, { id, finishedAt, fetchedAt, isMine, retryUntil }: Archive, requester: string): Html {
  const address = pathOf(ctx, `${ARCHIVES}/${id}`)
  if (fetchedAt)
    return html`<p class="mt-4">The archive was downloaded and has been deleted. If you need it again, create another.</p>`
  if (!finishedAt)
    return html`<p class="mt-4">This can take a while. You can leave this page.</p><p class="mt-3"><a class="btn" href="${address}">Refresh</a></p>`
  if (retryUntil && retryUntil <= ctx.deps.clock())
    return html`<p class="mt-4">The download was interrupted and not repeated within an hour. If you need the archive, create another.</p>`
  if (!isMine) return html`<p class="mt-4">Only ${requester} can download it.</p>`
  const hint = retryUntil
    ? html`The download has started. If it was interrupted, the session that started it can repeat it until ${time(retryUntil)}.`
    : 'If the download is interrupted, you can repeat it within an hour, as long as you stay signed in.'
  return html`<form class="mt-4" method="post" action="${address}/file"><button class="btn btn-primary">Download</button>
<p class="hint mt-3">${hint}</p></form>`
}
