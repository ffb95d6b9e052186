import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import {
  DEFAULT_SHARE_DAYS,
  type ListedShareLink,
  SHARE_DAYS,
  type ShareCandidate,
  type ShareLinkDetail,
  stateOfLink,
} from '../../../domain/sharing/share-links.ts'
import { RESULT_PARTS, type ResultPart } from '../../../domain/submissions/result-parts.ts'
import { displayNameOf } from '../../../domain/text/display-name.ts'
import { html } from '../../../html/html.ts'
import { formatCount } from '../../../http/pages/candidate-view.ts'
import { confirmButton } from '../kit/confirm.ts'
import { time, timeAgo } from '../kit/formatting.ts'
import { checkbox, checkboxes, type Form, field, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { copyBox, empty, factList } from '../kit/parts.ts'
import { badge } from '../kit/status.ts'
import { table } from '../kit/table.ts'

export const SHARES = 'shares'

export const PART_LABELS: Record<ResultPart, string> = {
  names: 'Names',
  answers: 'Written answers and files',
  recordings: 'Recorded answers',
  transcripts: 'Transcripts',
}

const partOptions = (ctx: Context) =>
  RESULT_PARTS.filter((part) => part !== 'transcripts' || may(ctx, 'read_transcripts')).map(
    (part) => [part, PART_LABELS[part]] as const,
  )

const formatParts = (shows: readonly string[]): string =>
  ['Points', ...RESULT_PARTS.filter((part) => shows.includes(part)).map((part) => PART_LABELS[part].toLowerCase())].join(', ')

/** Page of the form. Without candidates, it only shows why nothing can be shared. */
export function newSharePage(form: Form, { ctx, candidates }: { ctx: Context; candidates: ShareCandidate[] }): Page {
  const untold = candidates.filter(({ isTold }) => !isTold).length
  return {
    title: candidates.length === 0 ? 'Share results' : `Share ${formatCount(candidates.length, 'result')}`,
    trail: [['Results', pathOf(ctx, 'results')]],
    subtitle: candidates[0]?.assessment,
    body: html`${mistakes(form)}${
      candidates.length === 0
        ? html`<a class="btn" href="${pathOf(ctx, 'results')}">Back to the results</a>`
        : html`<form class="panel max-w-2xl" method="post" action="${pathOf(ctx, SHARES)}">${onceField()}
${candidates.map(({ id }) => html`<input type="hidden" name="id" value="${id}">\n`)}
<p class="mb-4">${candidates.map(({ name }) => name).join(', ')}</p>
<p class="hint mb-4">Anybody who has the link can open it, without signing in. It always shows points by question. It never shows email addresses, comments, decisions, or other candidates.</p>
${field(form, { name: 'receiver', label: 'Receiver', hint: 'Their name stands on the page, and over recordings.' })}
${
  untold > 0
    ? html`<p class="alert alert-soft alert-warning mb-4">${untold === candidates.length ? 'These candidates were' : `${formatCount(untold, 'of these candidates')} ${untold === 1 ? 'was' : 'were'}`} not told that results may be shared: they agreed to an earlier text, or were not asked. You can share points only.</p>`
    : checkboxes(form, { name: 'shows', label: 'Also show', options: partOptions(ctx) })
}
${field(form, { name: 'days', label: 'Days until the link ends', type: 'number', value: String(DEFAULT_SHARE_DAYS), hint: `At most ${SHARE_DAYS.maximum}.` })}
${checkbox(form, { name: 'hasCode', label: 'Ask for an access code, which you send separately' })}
${checkbox(form, { name: 'asksFeedback', label: 'Ask the receiver for a view and a comment on each candidate' })}
<div class="mt-4 flex flex-wrap gap-2"><button class="btn btn-primary">Create link</button><a class="btn" href="${pathOf(ctx, 'results')}">Cancel</a></div>
</form>`
    }`,
  }
}

export const sharesPage = (ctx: Context, links: ListedShareLink[]): Page => ({
  title: 'Links to results',
  trail: [['Results', pathOf(ctx, 'results')]],
  body: html`<section class="panel" aria-label="Links"><h2 class="sr-only" id="links-heading">Links</h2>
${
  links.length === 0
    ? empty('link', 'No links yet. Select results in the list, then choose “Share”.')
    : table(
        'links-heading',
        ['Receiver', 'Assessment', 'Results', 'Shows', 'Status', 'Ends', 'By'],
        links.map((link) => [
          html`<a class="named" href="${pathOf(ctx, `${SHARES}/${link.id}`)}">${link.receiver}</a>`,
          link.assessment.name,
          link._count.results,
          formatParts(link.shows),
          badge(stateOfLink(link, ctx.deps.clock())),
          timeAgo(ctx, link.expiresAt),
          displayNameOf(link.createdBy.user),
        ]),
      )
}
</section>`,
})

export function sharePage(ctx: Context, link: ShareLinkDetail, done: string | undefined): Page {
  const state = stateOfLink(link, ctx.deps.clock())
  const path = pathOf(ctx, `${SHARES}/${link.id}`)
  return {
    title: `Link for ${link.receiver}`,
    trail: [
      ['Results', pathOf(ctx, 'results')],
      ['Links to results', pathOf(ctx, SHARES)],
    ],
    state: badge(state),
    notice: done === 'revoked' ? 'The link is revoked. Its page and recordings no longer open.' : undefined,
    actions:
      state === 'open' &&
      confirmButton({
        label: 'Revoke',
        question: 'Revoke this link?',
        consequence: 'Its page and recordings stop opening at once. You can’t undo this, but you can create another link.',
        address: `${path}/revoke`,
      }),
    body: html`${
      state === 'open' &&
      panel(
        'link',
        'Link',
        html`${copyBox('share-url', link.url)}${link.code && html`<p class="mt-4 mb-1.5 text-sm font-medium">Access code</p>${copyBox('share-code', link.code)}<p class="hint mt-1">Send it another way than the link, for example by phone.</p>`}`,
      )
    }${panel(
      'about',
      'Details',
      factList([
        ['Assessment', link.assessment.name],
        ['Shows', formatParts(link.shows)],
        ['Created', html`${displayNameOf(link.createdBy.user)}, ${time(link.createdAt)}`],
        ['Ends', time(link.expiresAt)],
        ['Revoked', link.revokedAt && time(link.revokedAt)],
      ]),
    )}${panel(
      'results',
      link.asksFeedback ? 'Feedback' : 'Results',
      table(
        'results-heading',
        ['Candidate', ...(link.asksFeedback ? ['View', 'Comment', 'When'] : [])],
        link.feedback.map(({ submissionId, name, vote, comment, answeredAt }) => [
          html`<a class="named" href="${pathOf(ctx, `results/${submissionId}`)}">${name}</a>`,
          ...(link.asksFeedback
            ? [
                vote === null ? '' : vote === 'up' ? 'Yes' : 'No',
                html`<span class="preformatted" dir="auto">${comment}</span>`,
                answeredAt && timeAgo(ctx, answeredAt),
              ]
            : []),
        ]),
      ),
    )}${panel(
      'openings',
      'Openings',
      link.openings.length === 0
        ? html`<p>Nobody has opened the link yet.</p>`
        : table(
            'openings-heading',
            ['When', 'Address', 'Browser'],
            link.openings.map(({ at, address, userAgent }) => [time(at), address, userAgent]),
          ),
    )}`,
  }
}
