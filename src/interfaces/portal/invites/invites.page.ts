import { may } from '../../../domain/authorization/permissions.ts'
import type { SavedFilter } from '../../../domain/invites/saved-filters.ts'
import { html } from '../../../html/html.ts'
import { type AssessmentHead, assessmentHead, inviteButton } from '../assessments/assessment-head.ts'
import { assessmentTabs } from '../assessments/assessment-tabs.ts'
import { type Form, mistakes } from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { linkButton } from '../kit/parts.ts'
import { inviteList, type ListFacts, listPath, statusTabs } from './invite-list.ts'
import { savedFilters } from './saved-filters.ts'

/** @property saving form that saves the filter. */
type Facts = ListFacts & { saved: SavedFilter[]; saving: Form }

export function invitesPage(form: Form, { saved, saving, ...facts }: Facts): Page {
  const { ctx } = facts
  return {
    title: 'Invites',
    actions:
      may(ctx, 'invite') &&
      html`${linkButton(`${pathOf(ctx, 'invites/batches')}#batches-heading`, 'Imported lists', 'list-checks')}${linkButton(pathOf(ctx, 'invites/batches'), 'Import candidates', 'upload')}${linkButton(pathOf(ctx, 'invites/new'), 'Invite a candidate', 'plus', 'main')}`,
    tabs: statusTabs(listPath(facts), form.values, facts),
    body: html`${mistakes(form)}${mistakes(saving)}${savedFilters({ ctx, saved, values: form.values, form: saving })}${inviteList(form, facts)}`,
  }
}

export const assessmentInvitesPage = (form: Form, headed: AssessmentHead, facts: ListFacts): Page => ({
  ...assessmentHead(headed, inviteButton(headed.ctx, headed.assessment)),
  title: `Invites: ${headed.assessment.name}`,
  heading: headed.assessment.name,
  tabs: assessmentTabs(headed.ctx, headed.assessment, 'invites'),
  body: html`${mistakes(form)}${inviteList(form, facts)}`,
})
