import type { Context } from '../../../domain/context.ts'
import { MAX_COUNTED_DUE, RETENTION_RULES, type RetentionRule } from '../../../domain/erasure/due-invites.ts'
import type { Retention, RetentionPreview } from '../../../domain/erasure/retention.ts'
import { RETENTION_DAYS } from '../../../domain/limits.ts'
import { type Html, html } from '../../../html/html.ts'
import { time } from '../kit/formatting.ts'
import { checkboxes, type Form, field, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { settingsSection } from '../kit/settings-section.ts'
import { ERASURES, RETENTION_RULE_LABELS } from './erasure.page.ts'

export const RETENTION = 'settings/retention'

/** @property toConfirm rows that the first night would erase, and a token of the submitted settings, if they need a confirmation. */
type Facts = {
  ctx: Context
  retention: Retention
  toConfirm: (RetentionPreview & { word: string }) | null
  done: string
  now: Date
}

export function retentionPage(form: Form, { ctx, retention, toConfirm, done, now }: Facts): Page {
  const { kept: keptDays, beginsAt } = retention
  const address = pathOf(ctx, RETENTION)
  const isOn = RETENTION_RULES.some((rule) => keptDays[rule] !== null)
  return {
    title: 'Retention',
    subtitle: 'How long ended invites are kept.',
    trail: [['Settings', pathOf(ctx, 'settings')]],
    notice: done === 'saved' ? 'The settings are saved.' : undefined,
    body: html`${mistakes(form)}${settingsSection(form, { address, row: retention }, 'days', {
      heading: 'Days after the end',
      about:
        'After these days an invite, live or test, is erased for good, with its answers, recordings, grades, and results. Counts and points stay, without names.',
      isFirst: true,
      fields: html`${RETENTION_RULES.map((rule) =>
        field(form, {
          name: rule,
          label: RETENTION_RULE_LABELS[rule],
          type: 'number',
          value: String(keptDays[rule] ?? ''),
          hint: `${RETENTION_DAYS.minimum} to ${RETENTION_DAYS.maximum.toLocaleString('en')} days. Empty: no limit.`,
          optional: true,
        }),
      )}${toConfirm && confirmationBox(form, toConfirm)}`,
      more:
        isOn && beginsAt && beginsAt > now ? html`<p class="hint mt-4">Nothing is erased before ${time(beginsAt)}.</p>` : html``,
    })}${panel(
      'nights',
      'Erased invites',
      html`<p class="mb-3">Invites that have reached their limit are erased after midnight (UTC). Photos and recordings go earlier where the operator keeps them for less.</p><a class="btn" href="${pathOf(ctx, ERASURES)}">Receipts</a>`,
    )}`,
  }
}

/** Confirmation checkbox. Its value is the setting being confirmed, so changing the setting clears the confirmation. */
const confirmationBox = (form: Form, { word, beginsAt, due }: RetentionPreview & { word: string }): Html =>
  html`<p class="mb-3">The first night begins on ${time(beginsAt)}, and erases ${countOf(due)}. After that, each is erased when its days are over.</p>
${checkboxes(form, { name: 'sure', label: 'This can’t be undone', options: [[word, 'Erase them for good']] })}`

function countOf(due: Record<RetentionRule, number>): string {
  const countDue = (rule: RetentionRule) => Math.min(due[rule], MAX_COUNTED_DUE)
  const word = (count: number, isMore: boolean) => `${isMore ? 'more than ' : ''}${count.toLocaleString('en')}`
  const isMore = (rule: RetentionRule) => due[rule] > MAX_COUNTED_DUE
  const sum = RETENTION_RULES.reduce((total, rule) => total + countDue(rule), 0)
  if (sum === 0) return 'no invite'
  const parts = RETENTION_RULES.filter((rule) => due[rule] > 0).map(
    (rule) => `${word(countDue(rule), isMore(rule))} ${RETENTION_RULE_LABELS[rule].toLowerCase()}`,
  )
  return `${word(sum, RETENTION_RULES.some(isMore))} ${sum === 1 ? 'invite' : 'invites'} (${parts.join(', ')})`
}
