import { pickProctoring } from '../../../domain/assessments/assessment-input.ts'
import { findContactOf } from '../../../domain/invites/find-contact.ts'
import { withDefaults } from '../../../domain/invites/new-invite.ts'
import { selectableLanguages } from '../../../domain/languages/choose-language.ts'
import type { ShownLink } from '../../../domain/open-links/find-open-link.ts'
import { MAILS_PER_ADDRESS, MAX_VISITOR_NAME_LENGTH, REGISTRATION_MS } from '../../../domain/open-links/limits.ts'
import type { Closure } from '../../../domain/open-links/link-state.ts'
import type { RegistrationInput, RegistrationIssue } from '../../../domain/open-links/register.ts'
import type { AssessmentFacts } from '../../../domain/submissions/assessment-facts.ts'
import { HOUR_MS } from '../../../domain/time/days.ts'
import { type Html, html } from '../../../html/html.ts'
import { pageHead } from '../../../http/pages/brand.ts'
import { icon } from '../../../http/pages/icon.ts'
import { nameOfLanguage } from '../../../locales/names.ts'
import { solver } from '../kit/assets.ts'
import { type LanguageRequest, textsFor } from '../kit/language.ts'
import { column, footLinks, form, hidden, languageSwitch, mailto, type Page, pathOf, time, type View } from '../kit/layout.ts'
import type { CandidateSettings } from '../kit/settings.ts'
import { expectedOf } from '../pages/invitation.page.ts'

const HOURS = REGISTRATION_MS / HOUR_MS

/** Reason why a visitor can't register at present. @property until time of the next possible try. */
export type Refusal = Closure | { why: 'network'; until: Date }

type ViewOptions = { path: string; proof?: string; chosenLanguage: string | null }

/** View of the invite that the link will create. @param viewed.chosenLanguage from the URL or the form; null: the browser's. */
export function openView(
  link: Pick<ShownLink, 'assessment'>,
  request: LanguageRequest,
  { languages }: Pick<CandidateSettings, 'languages'>,
  { path, proof = '', chosenLanguage }: ViewOptions,
): View {
  const { assessment } = link
  const { questionReplayLimit, answerRecordLimit } = withDefaults({})
  const invite: View['invite'] = {
    ...pickProctoring(assessment),
    organization: assessment.organization,
    assessment: { ...assessment, instruction: null },
    ...{ language: null, chosenLanguage, timeZone: null, createdBy: null, recipientName: null, customMessage: '' },
    ...{ expiresAt: new Date(0), completedAt: null, returnUrl: null, questionReplayLimit, answerRecordLimit },
    ...{ extraTimePercent: 0, waivedChecks: [] },
  }
  const t = textsFor(languages, invite, request)
  return { t, invite, token: '', path, proof, languages: selectableLanguages(languages, invite) }
}

const page = (view: View, title: string, { above, heading, body }: { above: string; heading: string; body: Html }): Page => ({
  language: view.t.language,
  title,
  script: 'open',
  brand: view.invite.organization,
  body: column(html`${pageHead(view.invite.organization, above, languageSwitch(view))}
<h1 class="mt-6 text-3xl">${heading}</h1>
${body}
${contact(view)}`),
})

function contact({ t, invite }: View): Html {
  const person = findContactOf(invite)
  const contactText = person && t.html('open.contact', { person: person.name, address: mailto(person.address) })
  return html`${contactText && html`<p class="quiet mt-10 text-sm">${contactText}</p>`}${footLinks(t, invite.organization)}`
}

type FormFacts = {
  facts: AssessmentFacts
  /** Consent terms; null if the assessment is taken elsewhere. */
  terms: Html | null
  closesAt: Date | null
  emailDomains: readonly string[]
  input?: RegistrationInput
  issues?: RegistrationIssue[]
}

/** Form of an open link, below the facts about the assessment. */
export function openPage(view: View, formFacts: FormFacts): Page {
  const { t, invite } = view
  const { facts, terms, closesAt, issues = [] } = formFacts
  const { name } = invite.assessment
  return page(view, issues.length > 0 ? `${t.text('open.issues.heading')}: ${name}` : name, {
    above: t.text('layout.invites'),
    heading: name,
    body: html`${expectedOf(view, facts)}
${openUntil(view, closesAt)}
${issues.length > 0 && summaryOf(view, formFacts)}
${registrationForm(view, formFacts)}
${terms && html`<details class="mt-8"><summary class="link">${t.text('invitation.terms')}</summary>${terms}</details>`}`,
  })
}

const openUntil = ({ t }: View, closesAt: Date | null): Html | null =>
  closesAt &&
  html`<div class="alert alert-soft alert-info mt-6">${icon('calendar-clock', 'size-5')}<p>${t.html('invitation.open.pending', { time: time(t, closesAt) })}</p></div>`

function formatIssue({ t }: View, issue: RegistrationIssue, { emailDomains }: Pick<FormFacts, 'emailDomains'>): string {
  if (issue.problem === 'too_long') return t.text('open.issue.name.too_long', { limit: MAX_VISITOR_NAME_LENGTH })
  if (issue.problem === 'foreign_domain') return t.text('open.issue.email.foreign_domain', { domains: emailDomains.join(', ') })
  if (issue.field === 'name') return t.text(`open.issue.name.${issue.problem}`)
  return issue.field === 'email' ? t.text(`open.issue.email.${issue.problem}`) : t.text('open.issue.language.not_offered')
}

const summaryOf = (
  view: View,
  formFacts: FormFacts,
): Html => html`<div class="alert alert-soft alert-error mt-6 items-start" role="alert" aria-labelledby="mistakes">${icon('circle-alert', 'size-5')}<div><h2 id="mistakes">${view.t.text('open.issues.heading')}</h2>
<ul class="list-disc ps-5">${(formFacts.issues ?? []).map((issue) => html`<li><a href="${`#${issue.field}`}">${formatIssue(view, issue, formFacts)}</a></li>`)}</ul></div></div>`

function registrationForm(view: View, formFacts: FormFacts): Html {
  const { t, languages } = view
  const { input, issues = [] } = formFacts
  const control = (
    name: 'name' | 'email' | 'language',
    label: string,
    draw: (described: string, invalid: 'true' | 'false') => Html,
  ) => {
    const issue = issues.find(({ field }) => field === name)
    const mistake = issue && html`<p class="mistake" id="${name}-mistake">${formatIssue(view, issue, formFacts)}</p>`
    return html`<div class="field max-w-none"><label class="mb-1.5 block text-sm font-medium" for="${name}">${label}</label>
${draw(issue ? `${name}-mistake` : '', issue ? 'true' : 'false')}${mistake}</div>`
  }
  const textControl = (name: 'name' | 'email', type: string) =>
    control(
      name,
      t.text(`open.form.${name}`),
      (described, invalid) =>
        html`<input class="input w-full" id="${name}" name="${name}" type="${type}" autocomplete="${name}" value="${input?.[name] ?? ''}" dir="auto" required aria-describedby="${described}" aria-invalid="${invalid}">`,
    )
  const organization = view.invite.organization.name
  return registeringForm(
    view,
    'panel mt-6 sm:p-6',
    html`<h2 class="mb-4">${t.text('open.form.heading')}</h2>
<div class="grid gap-x-4 sm:grid-cols-2">${textControl('name', 'text')}${textControl('email', 'email')}</div>
${
  languages.length > 0
    ? control(
        'language',
        t.text('open.form.language'),
        (described, invalid) =>
          html`<select class="select w-full" id="language" name="language" aria-describedby="${described}" aria-invalid="${invalid}">${languages.map((code) => html`<option value="${code}" lang="${code}" ${code === t.language && html`selected`}>${nameOfLanguage(code)}</option>`)}</select>`,
      )
    : hidden('language', t.language)
}
<p class="text-sm">${t.text('open.form.data', { organization, hours: HOURS })}</p>
<button type="submit" class="btn btn-primary btn-lg mt-4 max-sm:w-full">${icon('mail')}${t.text('open.form.send')}</button>
<noscript><p class="hint mt-2">${t.text('open.form.slow')}</p></noscript>`,
  )
}

/** A form that registers. The page's script solves a challenge before it is sent. */
const registeringForm = (view: View, look: string, content: Html): Html =>
  html`<form method="post" action="${`${pathOf(view)}/register`}" class="${look}" data-challenge="${`${pathOf(view)}/challenge`}" data-worker="${solver.address}" data-checking="${view.t.text('open.form.checking')}">
<input type="hidden" name="solution" value="">
${content}
</form>`

/** The same page for every address, so that it reveals nothing. */
export const sentPage = (view: View, input: RegistrationInput): Page => {
  const { t } = view
  return page(view, t.text('open.sent.heading'), {
    above: view.invite.assessment.name,
    heading: t.text('open.sent.heading'),
    body: html`<p class="mt-2 flex items-start gap-2" role="status">${icon('mail-check', 'size-6 text-success')}<span class="min-w-0 wrap-break-word">${t.html('open.sent.text', { email: input.email, hours: HOURS })}</span></p>
<section class="panel mt-6" aria-labelledby="nothing"><h2 id="nothing">${t.text('open.sent.nothing')}</h2>
<ul class="mt-2 list-disc space-y-1 ps-5"><li>${t.text('open.sent.spam')}</li><li>${t.text('open.sent.check')} <a class="link" href="${`${pathOf(view)}?language=${t.language}`}">${t.text('open.sent.change')}</a></li></ul>
${registeringForm(
  view,
  'mt-4',
  html`${hidden('name', input.name)}${hidden('email', input.email)}${hidden('language', input.language)}
<button type="submit" class="btn">${icon('refresh-cw')}${t.text('open.sent.again')}</button>
<p class="hint mt-2">${t.text('open.sent.again.hint', { count: MAILS_PER_ADDRESS })}</p>`,
)}</section>
<p class="mt-6">${t.text('open.sent.close')}</p>`,
  })
}

/** Says why nobody can register at present, and when to try again. */
export function closedPage(view: View, refusal: Refusal, closesAt: Date | null): Page {
  const { t, invite } = view
  const heading = t.text(`open.closed.${refusal.why}.heading`)
  return page(view, heading, {
    above: invite.assessment.name,
    heading,
    body: html`<p class="mt-2">${explain(view, refusal)}</p>${refusal.why === 'not_yet' && openUntil(view, closesAt)}`,
  })
}

function explain({ t, invite }: View, { why, until }: Refusal): Html | string {
  if (why === 'closed') return t.text('open.closed.closed.text')
  if (why === 'full') return t.text('open.closed.full.text', { organization: invite.organization.name })
  return t.html(`open.closed.${why}.text`, { time: time(t, until ?? new Date(0)) })
}

/** Page behind the link in the mail. Only its buttons change anything, because mail scanners open links. */
export function beginPage(
  view: View,
  { name, closure, closesAt }: { name: string; closure: Closure | null; closesAt: Date | null },
): Page {
  const { t, invite } = view
  return page(view, invite.assessment.name, {
    above: t.text('layout.invites'),
    heading: invite.assessment.name,
    body: html`<p class="mt-2">${t.text('open.begin.text', { name })}</p>
${!closure && openUntil(view, closesAt)}
${
  closure
    ? html`<div class="alert alert-soft alert-warning mt-6">${icon('triangle-alert', 'size-5')}<div><h2>${t.text(`open.closed.${closure.why}.heading`)}</h2><p>${explain(view, closure)}</p></div></div>`
    : form(
        view,
        'begin',
        html`${hidden('zone', '')}<button type="submit" class="btn btn-primary btn-lg mt-6">${t.text('open.begin.button')}</button>`,
      )
}
<p class="mt-10">${t.text('open.begin.not_me.text')}</p>
${form(view, 'refuse', html`<button type="submit" class="btn btn-outline mt-3">${t.text('open.begin.not_me')}</button>`)}`,
  })
}

export const refusedPage = (view: View): Page =>
  page(view, view.t.text('open.refused.heading'), {
    above: view.invite.assessment.name,
    heading: view.t.text('open.refused.heading'),
    body: html`<p class="mt-2">${view.t.text('open.refused.text', { organization: view.invite.organization.name })}</p>`,
  })
