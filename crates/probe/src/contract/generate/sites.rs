//! The places of a schema where a value can be varied: the root, its members, their items, and so
//! on, breadth first, so many and no deeper. A variation is put into a base without changing
//! anything else.

use std::ops::Range;

use serde_json::Value;

use super::super::case::{Step, pointer};
use super::choice::Choice;
use super::document::{Conjunction, Document};
use super::text::is_readable;
use super::value::value;
use super::view::View;

const MAX_SITES: usize = 64;
const MAX_DEPTH: usize = 4;

pub(super) struct Sites<'d, 'a> {
    document: &'d Document<'a>,
    sites: Vec<Site<'a>>,
}

struct Site<'a> {
    parent: usize,
    path: Vec<Step>,
    schemas: Conjunction<'a>,
    view: View<'a>,
}

impl<'d, 'a> Sites<'d, 'a> {
    pub(super) fn walk(document: &'d Document<'a>) -> Self {
        let mut found = Self {
            document,
            sites: Vec::new(),
        };
        found.add(0, Vec::new(), document.root());
        let mut next = 0;
        while next < found.sites.len() {
            found.descend(next);
            next += 1;
        }
        found
    }

    fn add(&mut self, parent: usize, path: Vec<Step>, schemas: Conjunction<'a>) {
        if self.sites.len() >= MAX_SITES || path.len() > MAX_DEPTH {
            return;
        }
        if let Some(view) = self.document.view(&schemas, Choice::Minimal(0)) {
            self.sites.push(Site {
                parent,
                path,
                schemas,
                view,
            });
        }
    }

    fn descend(&mut self, index: usize) {
        let Site { path, view, .. } = &self.sites[index];
        let (path, view) = (path.clone(), view.clone());
        let below = |step| {
            let mut path = path.clone();
            path.push(step);
            path
        };
        for (name, schemas) in view.properties {
            self.add(index, below(Step::Property(name.to_owned())), schemas);
        }
        if view.prefix.is_empty() {
            if !view.items.is_empty() {
                self.add(index, below(Step::Item(0)), view.items);
            }
        } else {
            for (item, schemas) in view.prefix.into_iter().enumerate() {
                self.add(index, below(Step::Item(item)), schemas);
            }
        }
    }

    pub(super) fn all(&self) -> Range<usize> {
        0..self.sites.len()
    }

    pub(super) fn view(&self, site: usize) -> &View<'a> {
        &self.sites[site].view
    }

    /// The place of a site in arguments, as the names of cases have it.
    pub(super) fn describe(&self, site: usize) -> String {
        match self.sites[site].path.as_slice() {
            [] => "the root".to_owned(),
            path => pointer(path),
        }
    }

    /// What is wanted and cannot be made.
    pub(super) fn ungeneratable(&self) -> Vec<String> {
        let unreadable = |site: &&Site<'_>| site.view.patterns.iter().any(|one| !is_readable(one));
        let name = |site: &Site<'_>| format!("pattern at {}", pointer(&site.path));
        self.sites.iter().filter(unreadable).map(name).collect()
    }

    /// The value at a site of a base, if the base has one.
    pub(super) fn get<'v>(&self, base: &'v Value, site: usize) -> Option<&'v Value> {
        let mut value = base;
        for step in &self.sites[site].path {
            value = match step {
                Step::Property(name) => value.get(name)?,
                Step::Item(index) => value.get(index)?,
            };
        }
        Some(value)
    }

    /// The base with another value at a site. What the way there needs is made.
    pub(super) fn replace(&self, base: &Value, site: usize, changed: Value) -> Option<Value> {
        let place = &self.sites[site];
        let Some(step) = place.path.last() else {
            return Some(changed);
        };
        let parent = &self.sites[place.parent];
        let mut around = match self.get(base, place.parent) {
            Some(value) => value.clone(),
            None => self.make(&parent.schemas)?,
        };
        match (step, &mut around) {
            (Step::Property(name), Value::Object(object)) => {
                object.insert(name.clone(), changed);
            }
            (Step::Item(index), Value::Array(items)) => {
                while items.len() < *index {
                    let filler = parent.view.prefix.get(items.len())?;
                    items.push(self.make(filler)?);
                }
                if let Some(item) = items.get_mut(*index) {
                    *item = changed;
                } else {
                    items.push(changed);
                }
            }
            _ => return None,
        }
        self.replace(base, place.parent, around)
    }

    fn make(&self, schemas: &[&'a Value]) -> Option<Value> {
        (0..3).find_map(|nth| value(self.document, schemas, Choice::Minimal(nth)))
    }
}
