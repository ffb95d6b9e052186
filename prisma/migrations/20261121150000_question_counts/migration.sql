-- question_count and total_points follow the statements that write questions, no longer row by row: each row made another version of its
-- assessment, and had to pass all those before it, so that some thousand questions of one assessment could not be imported in time.
DROP TRIGGER "questions_count" ON "questions";
DROP FUNCTION "count_questions"();

-- Counts the changed rows in (argument 1) or out (-1).
CREATE FUNCTION "count_questions"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign CONSTANT int := TG_ARGV[0];
BEGIN
  UPDATE assessments a
  SET question_count = a.question_count + sign * delta.questions, total_points = a.total_points + sign * delta.points
  FROM (SELECT assessment_id, count(*)::int AS questions, sum(points)::int AS points FROM changed GROUP BY assessment_id) AS delta
  WHERE a.id = delta.assessment_id;
  RETURN NULL;
END
$$;

-- Most updates change neither: they leave the assessment alone.
CREATE FUNCTION "count_updated_questions"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE assessments a
  SET question_count = a.question_count + delta.questions, total_points = a.total_points + delta.points
  FROM (
    SELECT assessment_id, sum(questions)::int AS questions, sum(points)::int AS points
    FROM (
      SELECT assessment_id, 1 AS questions, points FROM updated_to
      UNION ALL
      SELECT assessment_id, -1, -points FROM updated_from
    ) AS change
    GROUP BY assessment_id
  ) AS delta
  WHERE a.id = delta.assessment_id AND (delta.questions <> 0 OR delta.points <> 0);
  RETURN NULL;
END
$$;

CREATE TRIGGER "questions_inserted" AFTER INSERT ON "questions"
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION "count_questions"('1');
CREATE TRIGGER "questions_updated" AFTER UPDATE ON "questions"
  REFERENCING OLD TABLE AS updated_from NEW TABLE AS updated_to FOR EACH STATEMENT EXECUTE FUNCTION "count_updated_questions"();
CREATE TRIGGER "questions_deleted" AFTER DELETE ON "questions"
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION "count_questions"('-1');
