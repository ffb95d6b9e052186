import type { SecurityMailKind } from '../../domain/mails/member-emails.ts'
import type { MailTexts } from '../../locales/languages.ts'
import { type Block, greeting, type Letter, linkWithButton, list, type Piece, paragraph, translate } from '../letter.ts'
import { shortenForSubject } from '../message.ts'

/**
 * @property person who did it, if somebody else. @property called name of the added, created, or affected thing.
 * @property until date of the announced change. @property forgot URL to reset the password. @property log URL of the audit log.
 */
export type SecurityLetterFacts = {
  name: string
  organization: string
  at: Date
  address: string | null
  browser: string | null
  person: string | null
  called: string
  until: Date
  before: string
  after: string
  forgot: string
  log: string
  home: string
}

type SecurityText = { subject: string; summary: readonly Piece[]; next: 'own' | 'admins' | 'hold' | string }

const securityTexts: Record<SecurityMailKind, (t: MailTexts, facts: SecurityLetterFacts) => SecurityText> = {
  new_browser: (t) => ({ subject: t.text('security.browser.subject'), summary: [t.text('security.browser.what')], next: 'own' }),
  password_changed: (t) => ({
    subject: t.text('security.password.subject'),
    summary: [t.text('security.password.what')],
    next: 'own',
  }),
  password_reset: (t) => ({
    subject: t.text('security.password.subject'),
    summary: [t.text('security.reset.what')],
    next: 'own',
  }),
  factor_added: (t, { called: name }) => ({
    subject: t.text('security.added.subject'),
    summary: translate(t, 'security.added.what', { name }),
    next: 'own',
  }),
  factor_removed: (t, { called: name }) => ({
    subject: t.text('security.removed.subject'),
    summary: translate(t, 'security.removed.what', { name }),
    next: 'own',
  }),
  recovery_codes_made: (t) => ({
    subject: t.text('security.codes.subject'),
    summary: [t.text('security.codes.what')],
    next: 'own',
  }),
  recovery_code_used: (t) => ({
    subject: t.text('security.recovery.subject'),
    summary: [t.text('security.recovery.what')],
    next: 'own',
  }),
  roles_changed: (t, { organization, before, after }) => ({
    subject: t.text('security.roles.subject', { organization: shortenForSubject(organization) }),
    summary: translate(t, 'security.roles.what', { organization, before, after }),
    next: t.text('security.roles.next'),
  }),
  owner_offered: (t, { organization, person, until }) => ({
    subject: t.text('owner.offered.subject', { organization: shortenForSubject(organization) }),
    summary: translate(t, 'owner.offered.what', { person: person ?? '–', organization }),
    next: t.text('owner.offered.next', { time: t.time(until) }),
  }),
  ownership_offer_made: (t, { organization, person, called: other }) => ({
    subject: t.text('owner.made.subject', { organization: shortenForSubject(organization) }),
    summary: translate(t, 'owner.made.what', { person: person ?? '–', other, organization }),
    next: t.text('owner.made.next'),
  }),
  ownership_offer_taken: (t, { organization, person, called: from }) => ({
    subject: t.text('owner.taken.subject', { organization: shortenForSubject(organization) }),
    summary: translate(t, 'owner.taken.what', { person: from, other: person ?? '–', organization }),
    next: t.text('owner.taken.next'),
  }),
  sessions_ended: (t, { organization }) => ({
    subject: t.text('security.ended.subject', { organization: shortenForSubject(organization) }),
    summary: translate(t, 'security.ended.what', { organization }),
    next: t.text('security.ended.next'),
  }),
  wrong_passwords: (t) => ({
    subject: t.text('security.guessed.subject'),
    summary: [t.text('security.guessed.what')],
    next: t.text('security.guessed.next'),
  }),
  wrong_codes: (t) => ({ subject: t.text('security.known.subject'), summary: [t.text('security.known.what')], next: 'own' }),
  security_changed: (t, { organization }) => ({
    subject: t.text('security.settings.subject', { organization: shortenForSubject(organization) }),
    summary: translate(t, 'security.settings.what', { organization }),
    next: 'admins',
  }),
  retention_changed: (t, { organization }) => ({
    subject: t.text('security.retention.subject', { organization: shortenForSubject(organization) }),
    summary: translate(t, 'security.retention.what', { organization }),
    next: 'admins',
  }),
  text_changed: (t, { organization, called: name }) => ({
    subject: t.text('security.text.subject', { organization: shortenForSubject(organization) }),
    summary: name
      ? translate(t, 'security.text.what', { organization, name })
      : translate(t, 'security.text.removed', { organization }),
    next: 'admins',
  }),
  page_words_changed: (t, { organization }) => ({
    subject: t.text('security.words.subject', { organization: shortenForSubject(organization) }),
    summary: translate(t, 'security.words.what', { organization }),
    next: 'admins',
  }),
  key_made: (t, { organization, called: name }) => ({
    subject: t.text('security.key.subject', { organization: shortenForSubject(organization) }),
    summary: translate(t, 'security.key.what', { organization, name }),
    next: 'admins',
  }),
  break_glass_used: (t, { organization }) => ({
    subject: t.text('security.past.subject', { organization: shortenForSubject(organization) }),
    summary: translate(t, 'security.past.what', { organization }),
    next: 'admins',
  }),
  identity_linked: (t, { called: name }) => ({
    subject: t.text('security.linked.subject', { name: shortenForSubject(name) }),
    summary: translate(t, 'security.linked.what', { name }),
    next: t.text('security.linked.next'),
  }),
  secret_ending: (t, { organization, called: name, until }) => ({
    subject: t.text('security.secret.subject', { organization: shortenForSubject(organization), name: shortenForSubject(name) }),
    summary: translate(t, 'security.secret.what', { organization, name, time: t.time(until) }),
    next: t.text('security.secret.next'),
  }),
  domain_failing: (t, { organization, called: name, until }) => ({
    subject: t.text('security.domain.subject', { organization: shortenForSubject(organization), name: shortenForSubject(name) }),
    summary: translate(t, 'security.domain.what', { organization, name, time: t.time(until) }),
    next: t.text('security.domain.next'),
  }),
  domain_lost: (t, { organization, called: name }) => ({
    subject: t.text('security.lost.subject', { organization: shortenForSubject(organization), name: shortenForSubject(name) }),
    summary: translate(t, 'security.lost.what', { organization, name }),
    next: t.text('security.lost.next'),
  }),
  organization_ending: (t, { organization, until }) => ({
    subject: t.text('ending.asked.subject', { organization: shortenForSubject(organization) }),
    summary: translate(t, 'ending.asked.what', { organization, time: t.time(until) }),
    next: 'hold',
  }),
  organization_ending_soon: (t, { organization, until }) => ({
    subject: t.text('ending.soon.subject', { organization: shortenForSubject(organization) }),
    summary: translate(t, 'ending.soon.what', { organization, time: t.time(until) }),
    next: 'hold',
  }),
  organization_kept: (t, { organization }) => ({
    subject: t.text('ending.kept.subject', { organization: shortenForSubject(organization) }),
    summary: translate(t, 'ending.kept.what', { organization }),
    next: 'admins',
  }),
}

export const isSecurityKind = (kind: string): kind is SecurityMailKind => Object.hasOwn(securityTexts, kind)

/** Mail about a change of an account's or organization's security: what, when, from where, and what to do if it was somebody else. */
export function security(t: MailTexts, kind: SecurityMailKind, facts: SecurityLetterFacts): Letter {
  const { subject, summary, next } = securityTexts[kind](t, facts)
  return {
    subject,
    blocks: [greeting(t, facts.name), paragraph(...summary), circumstances(t, facts), ...nextSteps(t, next, facts)],
  }
}

function circumstances(t: MailTexts, { at, person, address, browser }: SecurityLetterFacts): Block {
  const items = [translate(t, 'security.time', { time: t.time(at) })]
  if (person) items.push(translate(t, 'security.person', { person }))
  if (address) items.push(translate(t, 'security.address', { address }))
  if (browser) items.push(translate(t, 'security.browser', { browser }))
  return list(...items)
}

function nextSteps(t: MailTexts, next: SecurityText['next'], { forgot, log, home }: SecurityLetterFacts): Block[] {
  if (next === 'own') return [paragraph(t.text('security.own')), ...linkWithButton(t, forgot, t.text('security.own.button'))]
  if (next === 'admins')
    return [paragraph(t.text('security.admins')), ...linkWithButton(t, log, t.text('security.admins.button'))]
  if (next === 'hold') return [paragraph(t.text('ending.next')), ...linkWithButton(t, home, t.text('ending.button'))]
  return [paragraph(next)]
}
