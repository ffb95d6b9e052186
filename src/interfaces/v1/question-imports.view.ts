import { type Static, Type } from '@sinclair/typebox'
import { type getImport, IMPORT_STATES, type ImportRow, type ImportState, MAX_IMPORTED } from '../../domain/library/imports.ts'
import { MAX_IMPORT_BYTES, MAX_NAME_LENGTH } from '../../domain/limits.ts'
import { throwIfIssues } from '../../domain/validation/throw-if-issues.ts'
import { DateTime, isoTime, isoTimeOrNull, Nullable, StringEnum, Text, Uuid } from '../../http/schema/field-types.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'
import { MAX_OPTIONS, optionMeaning, QUESTION_MEANINGS } from '../../kinds/file-formats/columns.ts'
import { ENCODINGS } from '../../tables/encodings.ts'
import { DELIMITERS } from '../../tables/read-csv.ts'
import type { QuestionFileChoices } from '../../uploads/import-questions.ts'

// Beyond v1.md: files of questions for the library.

const MEANINGS = ['', ...QUESTION_MEANINGS, ...Array.from({ length: MAX_OPTIONS }, (_, i) => optionMeaning(i + 1))]
const MAX_COLUMNS = 200

export const NewImportBody = Type.Object(
  {
    file: Type.String({
      contentEncoding: 'base64',
      description: `Content of the file in Base64: XLSX, CSV, GIFT, Aiken, Moodle XML, or QTI 2.1. Up to ${MAX_IMPORT_BYTES / 1024 / 1024} MiB and ${MAX_IMPORTED} questions. The content decides the format`,
    }),
    fileName: Type.Optional(Text({ maxLength: MAX_NAME_LENGTH, default: '', description: 'Shown in the portal' })),
    encoding: Type.Optional(StringEnum(ENCODINGS, { description: 'Encoding of a text. Omitted: it is recognized' })),
    delimiter: Type.Optional(
      StringEnum(Object.keys(DELIMITERS), { description: 'Sign between the cells of a CSV. Omitted: it is recognized' }),
    ),
    sheet: Type.Optional(Type.String({ description: 'Name of the sheet of a workbook. Omitted: the first visible one' })),
    headings: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1_000_000,
        description: 'Line of the headings of a sheet; 0: none. Omitted: it is recognized',
      }),
    ),
    columns: Type.Optional(
      Type.Array(StringEnum(MEANINGS), {
        maxItems: MAX_COLUMNS,
        description: 'Meaning of each column of a sheet; empty: the column is not used. Omitted: they are recognized',
      }),
    ),
    check: Type.Optional(Type.Boolean({ default: false, description: 'true: only report the outcome, and import nothing' })),
  },
  {
    [NAME]: 'NewQuestionImport',
    examples: [
      {
        file: 'UXVlc3Rpb24sQSxCLENvcnJlY3QKUGVydT8sTGltYSxSb21lLEE=',
        fileName: 'geography.csv',
        columns: ['text', 'option:1', 'option:2', 'right'],
      },
    ],
  },
)

/** @throws DomainError invalid if the file is not Base64. */
export function toQuestionFile({
  file,
  fileName = '',
  encoding,
  delimiter,
  sheet,
  headings,
  columns,
}: Static<typeof NewImportBody>) {
  const bytes = Buffer.from(file, 'base64')
  // Node ignores invalid characters, so the lengths differ.
  const padding = file.endsWith('==') ? 2 : file.endsWith('=') ? 1 : 0
  if (Math.ceil((bytes.length * 4) / 3) !== file.length - padding) {
    const text = 'file must be the content of the file in Base64, without line breaks'
    throwIfIssues([{ field: 'file', rule: 'malformed', text }])
  }
  const choices: QuestionFileChoices = { encoding, delimiter, sheet, headings, columns }
  return { fileName, bytes, choices }
}

/** This interface's names for the states of a question. */
const STATES = {
  ready: 'ready',
  losses: 'partial',
  there: 'duplicate',
  refused: 'refused',
  taken: 'imported',
  undone: 'undone',
} as const satisfies Record<ImportState, string>
const STATE_WORDS = IMPORT_STATES.map((state) => STATES[state])
export const toImportState = (word: string | undefined): ImportState | undefined =>
  IMPORT_STATES.find((state) => STATES[state] === word)

export const ImportRowState = StringEnum(STATE_WORDS, { [NAME]: 'QuestionImportRowState' })
const Count = (description: string) => Type.Integer({ description })

export const QuestionImportView = Type.Object(
  {
    id: Uuid('Import identifier'),
    fileName: Type.String(),
    format: Type.String({ description: 'xlsx, csv, gift, aiken, moodleXml, or qti' }),
    state: StringEnum(['checked', 'running', 'finished', 'undone'], {
      description: 'checked: nothing is imported; undone: a member has undone it in the portal',
    }),
    unusedColumns: Type.Array(Type.String(), { description: 'Headings of the columns that are not used' }),
    counts: Type.Object({
      ready: Count('Questions that will be imported'),
      partial: Count('Questions that will be imported without the parts that their notes name'),
      duplicate: Count('The library, or an earlier line of the file, has the same question'),
      refused: Count('Questions that can’t be imported'),
      imported: Count('Imported questions'),
      undone: Count('Questions that were removed again'),
    }),
    createdAt: DateTime(),
    finishedAt: Nullable(DateTime('When the last question was imported')),
  },
  { [NAME]: 'QuestionImport' },
)

export const QuestionImportRowView = Type.Object(
  {
    line: Type.Integer({ description: 'Line of the file where the question begins' }),
    name: Type.String({ description: 'Its name in the library' }),
    category: Type.String({ description: 'With all categories above it, as Math / Algebra' }),
    state: ImportRowState,
    notes: Type.Array(Type.String(), { description: 'What is lost, or why the question is refused' }),
    libraryQuestionId: Nullable(Uuid('The question in the library, once it is imported')),
  },
  { [NAME]: 'QuestionImportRow' },
)

export const OneImportView = Type.Object(
  { import: QuestionImportView },
  { [NAME]: 'OneQuestionImport', description: 'The import' },
)
export const NewImportView = Type.Object(
  {
    import: QuestionImportView,
    rows: Type.Array(QuestionImportRowView, {
      description: 'The first 100 questions that are refused, or lose something. All: GET /question-imports/{importId}/rows',
    }),
  },
  { [NAME]: 'NewQuestionImportReport', description: 'The import, and the questions that need attention' },
)

type Import = Awaited<ReturnType<typeof getImport>>

export const presentImport = ({ counts, ...questionImport }: Import): Static<typeof QuestionImportView> => ({
  id: questionImport.id,
  fileName: questionImport.fileName,
  format: questionImport.format,
  state: questionImport.revertedAt
    ? 'undone'
    : questionImport.finishedAt
      ? 'finished'
      : questionImport.startedAt
        ? 'running'
        : 'checked',
  unusedColumns: questionImport.unusedColumns,
  counts: {
    ready: counts.ready,
    partial: counts.losses,
    duplicate: counts.there,
    refused: counts.refused,
    imported: counts.taken,
    undone: counts.undone,
  },
  createdAt: isoTime(questionImport.createdAt),
  finishedAt: isoTimeOrNull(questionImport.finishedAt),
})

export const presentImportRow = (row: ImportRow): Static<typeof QuestionImportRowView> => ({
  line: row.line,
  name: row.name,
  category: row.category,
  state: STATES[row.state as ImportState],
  notes: row.notes,
  libraryQuestionId: row.libraryQuestionId,
})
