import { readdirSync, readFileSync } from 'node:fs'
import { EMPTY_ASSESSMENT } from '../domain/assessments/assessment-input.ts'
import type { QuestionDefinition } from '../domain/assessments/define-question.ts'
import { EMPTY_QUESTION, type QuestionInput } from '../domain/assessments/question-input.ts'
import type { AssessmentTemplate } from '../domain/assessments/templates.ts'
import type { ImportDocument } from '../import/format.ts'

// Assessments to start from. Each is an import document (docs/contract/import-format.md) with one organization and one assessment, in a file
// `<name>.<language>.json`.

/** @property summary a sentence for the list of templates. */
export type ShippedTemplate = AssessmentTemplate & { name: string; language: string; summary: string }

type Assessment = NonNullable<ImportDocument['organizations'][number]['assessments']>[number]
type TemplateAssessment = Assessment & {
  summary: string
  questions: (NonNullable<Assessment['questions']>[number] & { scriptFormat?: string })[]
}

let shipped: readonly ShippedTemplate[] | undefined

/** All templates in all their languages. They are read at their first use. */
export const shippedTemplates = (): readonly ShippedTemplate[] =>
  (shipped ??= readdirSync(import.meta.dirname)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map(readTemplate))

function readTemplate(file: string): ShippedTemplate {
  const [name = '', language = ''] = file.split('.')
  const document: ImportDocument = JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'))
  const { instructions = [], assessments = [] } = document.organizations[0]!
  const { summary, questions, ...assessment } = assessments[0] as TemplateAssessment
  return {
    ...{ name, language, summary },
    assessment: {
      ...EMPTY_ASSESSMENT,
      name: assessment.name,
      defaultQuestionFormat: assessment.defaultQuestionFormat ?? 'text',
      defaultAnswerFormat: assessment.defaultAnswerFormat ?? 'text',
      timeLimit: assessment.timeLimit ?? 0,
      languages: assessment.languages ?? [],
      skillTypes: assessment.skillTypes ?? [],
      instructionTitle: instructions[0]?.title ?? '',
      instruction: instructions[0]?.body ?? '',
    },
    questions: questions.map(({ id: _, order: __, definition, createdAt: ___, updatedAt: ____, ...content }) => {
      const input = { ...EMPTY_QUESTION, ...content } as QuestionInput
      return { input, definition: definition ? { responseType: input.responseType, ...definition } : null }
    }) satisfies { input: QuestionInput; definition: QuestionDefinition | null }[],
  }
}
