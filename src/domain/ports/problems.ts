// Problems by area. Issues carry them with rule `account`; each interface words them.

/** `limit`: characters for `minLength`, seconds until the next attempt for `tooMany`. */
export type SignInProblem =
  | 'wrong'
  | 'codeUsed'
  | 'passkey'
  | 'lastFactor'
  | 'unproven'
  | 'addressUnproven'
  | 'signedOut'
  | 'elsewhere'
  | 'exists'
  | 'notAddress'
  | 'breached'
  | 'minLength'
  | 'tooMany'
  | 'unknownBrowser'

/** Problems of names and dates in several areas. `limit`: days for `farFuture`. */
export type NameOrDateProblem = 'taken' | 'date' | 'future' | 'farFuture'

export type ApiKeyProblem = 'ended' | 'rotated'

/** `limit`: a line, or for `keysShutOut` a number of API keys. */
export type NetworkProblem = 'notNetwork' | 'everyNetwork' | 'keysShutOut' | 'ownAddress'

/** `limit`: the highest number allowed, or for `notClaims` a line. */
export type SingleSignOnProblem =
  | 'tooManyProviders'
  | 'tooManyDomains'
  | 'notDomain'
  | 'publicDomain'
  | 'domainTaken'
  | 'notTried'
  | 'noWayBack'
  | 'sharedIssuer'
  | 'needsSso'
  | 'lastBreakGlass'
  | 'notOwner'
  | 'foreignDomain'
  | 'notClaims'

export type MemberProblem =
  | 'lastAdmin'
  | 'lastOwner'
  | 'tooHigh'
  | 'ownRoles'
  | 'ownErasure'
  | 'joined'
  | 'notJoined'
  | 'offerEnded'
  | 'inactive'
  | 'deactivated'

/** `limit`: seconds until the next attempt for `tooManyTests`, the highest number allowed for `tooManyArchives`, bytes for `exportTooLarge`. */
export type OrganizationProblem = 'otherName' | 'likeAddress' | 'notHost' | 'tooManyTests' | 'tooManyArchives' | 'exportTooLarge'

export type QuestionProblem = 'notHttps' | 'asksNothing'

/** `limit`: the question's place in the assessment for `inAssessment`. */
export type LibraryProblem = 'inAssessment' | 'retired' | 'undoneTooLate'

export type InviteProblem = 'invited' | 'suppressed' | 'archived' | 'unasked'

/** Problems of an uploaded list of candidates or file of questions. `limit`: rows, bytes, a line, or for `mailsTooLate` mails a day. */
export type UploadedListProblem =
  | 'empty'
  | 'mailsTooLate'
  | 'unreadable'
  | 'noAddresses'
  | 'tooManyRows'
  | 'tooLarge'
  | 'notSheet'
  | 'noText'
  | 'tooHeavy'
  | 'tooMuchText'
  | 'notConfirmed'
  | 'wrongEncoding'
  | 'doubtfulEncoding'
  | 'damagedText'
  | 'damagedXml'
  | 'strayQuote'
  | 'unreadableCell'
  | UnreadFormat

/** Formats that are recognized, and refused with advice. */
export type UnreadFormat =
  | 'oldExcel'
  | 'binaryExcel'
  | 'encrypted'
  | 'ods'
  | 'word'
  | 'pdf'
  | 'html'
  | 'canvas'
  | 'qtiTest'
  | 'qti3'
  | 'questionFile'
  | 'doctype'
  | 'otherFormat'

/** `limit`: a number of invites. */
export type BulkChangeProblem =
  | 'noneChosen'
  | 'tooManyChosen'
  | 'moreMatch'
  | 'hasStarted'
  | 'otherInvites'
  | 'hasName'
  | 'notCompleted'
  | 'comparedCount'
  | 'bandTwice'

/** `limit`: a number of results. */
export type SharingProblem = 'sharingOff' | 'noResults' | 'tooManyShared' | 'severalAssessments' | 'notTold'

/** `limit`: the points or the number of the question. */
export type GradingProblem =
  | 'points'
  | 'released'
  | 'notReleased'
  | 'ungraded'
  | 'undecided'
  | 'regraded'
  | 'otherPoints'
  | 'uncommented'
  | 'unlikeRubric'
  | 'levels'
  | 'gradesAlready'
  | 'assignedToOther'

/** `limit`: the highest number allowed for `tooManyWebhooks`, the last missed event for `forgotten`. */
export type WebhookProblem = 'tooManyWebhooks' | 'disabled' | 'secretRotated' | 'forgotten'
