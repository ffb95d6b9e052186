import type { Cautions } from '../../../domain/assessments/cautions.ts'
import { type Html, html } from '../../../html/html.ts'
import { formatCount } from '../../../http/pages/candidate-view.ts'

/** Says what might not be thought of; nothing where there is nothing. @param questionCount of the assessment. */
export const cautionsShown = ({ withoutPoints, devices, open }: Cautions, questionCount: number): Html =>
  html`${[
    withoutPoints > 0 && wordPoints(withoutPoints, questionCount),
    devices.length > 0 && `Candidates need a ${devices.join(' and a ')} to answer.`,
    open > 0 && changesReach(open),
  ].map((sentence) => sentence && html`<p class="hint">${sentence}</p>\n`)}`

const wordPoints = (withoutPoints: number, questionCount: number): string =>
  withoutPoints === questionCount
    ? 'No question has points, so results will have no score.'
    : `${formatCount(withoutPoints, 'question')} of ${questionCount} ${withoutPoints === 1 ? 'has' : 'have'} no points.`

/** Whom a change of the questions reaches. @param open how many invites are. */
export const changesReach = (open: number): string =>
  `${formatCount(open, 'candidate')} ${open === 1 ? 'is' : 'are'} invited and ${open === 1 ? 'has' : 'have'} not started: they get your changes to the questions. Candidates who have started keep the questions they have.`
