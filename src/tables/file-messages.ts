import type { UploadedListProblem } from '../domain/ports/problems.ts'

/** Why an uploaded file is refused, and what to do. @param limit number of the issue: rows, bytes, or a line. */
export const FILE_MESSAGES: Record<
  Exclude<UploadedListProblem, 'mailsTooLate' | 'notConfirmed'>,
  (name: string, limit: number) => string
> = {
  empty: () => 'The list is empty. Add at least one row.',
  unreadable: (_name, line) => `The list can’t be read as CSV${line > 0 ? `: see line ${line}` : ''}.`,
  noAddresses: () => 'No column holds email addresses. Name it “email”, or choose it.',
  tooManyRows: (_name, rows) => `The list has more than ${rows.toLocaleString('en')} rows. Please split it.`,
  tooLarge: (_name, bytes) => `The list is larger than ${bytes / 1024 / 1024} MB. Please split it.`,
  notSheet: () => 'The file can’t be read as a spreadsheet. Save it as .xlsx or .csv, and choose it again.',
  noText: () => 'No column holds the questions. Name it “text” or “question”.',
  tooHeavy: () => 'The file is too complex to read. Split it, or save it as CSV.',
  tooMuchText: (_name, bytes) => `The file has more than ${bytes / 1e6} MB of text, counting repeated texts. Please split it.`,
  wrongEncoding: () => 'The text is not in this encoding. Choose another one, or save the file as UTF-8.',
  doubtfulEncoding: () => 'The letters of the text fit more than one encoding. Choose one, or save the file as UTF-8.',
  damagedText: (_name, line) =>
    `The file is UTF-8 with damaged characters, the first in line ${line}. Save it again from where it comes from.`,
  damagedXml: (_name, line) => `The XML is damaged in line ${line}. Export the file again from where it comes from.`,
  strayQuote: (_name, line) => `A quotation mark in line ${line} stands alone, so it is unclear where its cells end.`,
  unreadableCell: (_name, line) =>
    `A cell in row ${line} shows an error, or a formula without a stored result. Correct it in your spreadsheet program.`,
  oldExcel: () => 'This is an old Excel file (.xls). Save it as .xlsx, and choose it again.',
  binaryExcel: () => 'This is a binary Excel file (.xlsb). Save it as .xlsx, and choose it again.',
  encrypted: () => 'This file is protected with a password. Save it without one, and choose it again.',
  ods: () => 'This is an OpenDocument spreadsheet (.ods). Save it as .xlsx, and choose it again.',
  word: () => 'This is a text document (Word). Copy its content into a spreadsheet, one row each, and save it as .xlsx.',
  pdf: () => 'This is a PDF. Choose the file that it was made from, or copy its content into a spreadsheet, one row each.',
  html: () => 'This is a web page. Save the table as .xlsx or .csv, and choose it again.',
  canvas: () =>
    'This is a QTI 1.2 package, as Canvas exports it. Import it into Moodle, and export it there as Moodle XML; or copy the questions into a spreadsheet.',
  qtiTest: () => 'This is a QTI test without its items. Choose the package (.zip) that has both.',
  qti3: () =>
    'This is a QTI 3.0 package. Export it as QTI 2.1 from where it comes from, or copy the questions into a spreadsheet.',
  questionFile: () => 'This is a file of questions. Import it under Questions.',
  doctype: () => 'This XML file has a DOCTYPE, which no file of questions needs. Remove it, and choose the file again.',
  otherFormat: () => 'This file is none of the formats that can be read. Save the table as .xlsx or .csv, and choose it again.',
}
